/* The beginning of the single executable: linked statically, so that it needs no library of the machine it runs on.
 *
 * It holds the dynamic loader, the C library and the interpreter, puts each into memory (memfd_create(2)), and has the
 * loader replace this process with the interpreter. The process keeps its id, its standard streams and its signals;
 * nothing is unpacked to disk, so that nothing can be left there. Descriptors that follow the exec:
 *
 *   ARCHIVE      this very file: the interpreter reads Python modules from the zip at its end
 *   ARCHIVE + n  the libraries, in the order of OBJECTS; the interpreter closes them on any further exec
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layout.h" /* ARCHIVE; OBJECT(i, "file name") for each embedded file: loader, interpreter, libraries */

enum { LOADER, INTERPRETER, FIRST_LIBRARY };
enum { PATH_BYTES = 32 };

#define OBJECT(index, file)                                                                             \
    __asm__(".section .rodata\n.balign 16\nobject_" #index ":\n.incbin \"" file "\"\nobject_" #index "_end:\n.previous"); \
    extern const char object_##index[], object_##index##_end[];
OBJECTS
#undef OBJECT

static const struct {
    const char *name, *start, *end;
} objects[] = {
#define OBJECT(index, file) {file, object_##index, object_##index##_end},
    OBJECTS
#undef OBJECT
};
enum { COUNT = sizeof objects / sizeof *objects };

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "discern: cannot start: %s: %s\n", what, strerror(errno));
    exit(126);
}

/* Give `descriptor` the number `wanted`, which stays open on exec. */
static void move(int descriptor, int wanted) {
    if (descriptor < 0 || dup2(descriptor, wanted) < 0) fail("no descriptor");
    close(descriptor);
}

static void put_into_memory(int index) {
    int descriptor = memfd_create(objects[index].name, MFD_CLOEXEC);
    if (descriptor < 0) fail("no memory file");
    for (const char *at = objects[index].start; at < objects[index].end;) {
        ssize_t written = write(descriptor, at, objects[index].end - at);
        if (written < 0) fail("no memory for the interpreter");
        at += written;
    }
    move(descriptor, ARCHIVE + 1 + index);
}

static char *path_of(int descriptor) {
    char *path = malloc(PATH_BYTES);
    if (!path) fail("no memory");
    snprintf(path, PATH_BYTES, "/proc/self/fd/%d", descriptor);
    return path;
}

int main(int argc, char **argv) {
    static char own_path[4096];
    if (readlink("/proc/self/exe", own_path, sizeof own_path - 1) < 0) fail("/proc is not mounted");
    move(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), ARCHIVE);
    char libraries[COUNT * PATH_BYTES] = "";
    for (int index = 0; index < COUNT; index++) {
        put_into_memory(index);
        if (index < FIRST_LIBRARY) continue;
        if (*libraries) strcat(libraries, ":");
        strcat(libraries, path_of(ARCHIVE + 1 + index));
    }
    char *before[] = {own_path, "--inhibit-cache", "--argv0", own_path, "--preload", libraries,
                      path_of(ARCHIVE + 1 + INTERPRETER)};
    enum { BEFORE = sizeof before / sizeof *before };
    char **arguments = calloc(BEFORE + argc + 1, sizeof *arguments);
    if (!arguments) fail("no memory");
    memcpy(arguments, before, sizeof before);
    for (int index = 1; index < argc; index++) arguments[BEFORE + index - 1] = argv[index];
    execv(path_of(ARCHIVE + 1 + LOADER), arguments);
    fail("the interpreter");
}
