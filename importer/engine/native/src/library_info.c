/*
 * What loader.py asks the library before it uses it.
 */

/* The digest of the sources and flags that this library was compiled from, in hexadecimal digits. */
const char *source_digest(void)
{
    return SOURCE_DIGEST;
}

/*
 * Whether the processor has what loader.py's NEWER asks for, and the operating system lets it be used. On older ones the
 * build for newer ones is asked, too.
 */
#ifdef __x86_64__
__attribute__((target("no-avx,no-avx2,no-bmi,no-bmi2,no-popcnt")))
#endif
int is_newer(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
        && __builtin_cpu_supports("popcnt");
#else
    return 0;
#endif
}
