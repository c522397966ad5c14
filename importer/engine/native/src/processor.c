/*
 * What the processor can do, for native.py: it takes the library that was compiled for that.
 */

/* Whether it has what native.py's NEWER asks for, and the system lets it be used. */
int is_newer(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
        && __builtin_cpu_supports("popcnt");
#else
    return 0;
#endif
}
