/* Preloaded into a server: each sync of a file takes 300 ms longer, as on a slow disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

int fsync(int file)
{
    usleep(300000);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file)
{
    usleep(300000);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
