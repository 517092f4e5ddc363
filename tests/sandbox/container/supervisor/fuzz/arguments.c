/* libFuzzer: any memory of a process that asks for an exec, read as its arguments, and any file
 * as the program. The process is this one, so that reading it is real. */
#include <linux/seccomp.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec.h"
#include "protocol.h"

#define BASE 0x70000000ul
#define SIZE 16384u /* of readable memory; behind it there is none */
#define POINTERS_MOST 64u

static unsigned char *memory;
static int lowest = -1; /* descriptor that is free between inputs */

static int lowest_free(void) {
    int fd = dup(0);
    close(fd);
    return fd;
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    memory = mmap((void *)BASE, SIZE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != (void *)BASE) abort();
    place_prepare(false);
    return 0;
}

static void check(const struct exec *exec) {
    size_t ends = 0;
    if (exec->arguments_length > EXEC_ARGUMENTS || exec->told > exec->count + 1) abort();
    for (size_t at = 0; at < exec->arguments_length; at++) ends += !exec->arguments[at];
    if (ends != exec->told && !(exec->flags & EXECUTION_TRUNCATED)) abort();
    if (!memchr(exec->program, 0, sizeof exec->program)) abort();
    if (!memchr(exec->resolved, 0, sizeof exec->resolved)) abort();
}

static void write_program(const uint8_t *data, size_t size) {
    int fd = open("program", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    close(fd);
}

struct input {
    uint8_t how;       /* 1: execveat, 2: held, 4: the program is the file, 8: high pointers */
    uint8_t pointers;  /* of the vector */
    uint16_t name, file; /* where the name lies; bytes of the file */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct exec exec = {.handle = -1};
    struct input input;
    uint64_t vector[POINTERS_MOST + 1] = {0};
    int problem;
    if (lowest < 0) lowest = lowest_free();
    if (size < sizeof input) return 0;
    memcpy(&input, data, sizeof input);
    data += sizeof input;
    size -= sizeof input;
    size_t count = input.pointers % POINTERS_MOST, file = input.file % 512u;
    if (size < count * 2 + file) return 0;
    for (size_t i = 0; i < count; i++) {
        uint16_t offset;
        memcpy(&offset, data + 2 * i, 2);
        vector[i] = input.how & 8 ? BASE + SIZE - 1 - offset % 64u : BASE + offset;
    }
    write_program(data + 2 * count, file);
    data += 2 * count + file;
    size -= 2 * count + file;
    memset(memory, 0, SIZE);
    memcpy(memory + (SIZE - (size < SIZE ? size : SIZE)), data, size < SIZE ? size : SIZE);
    bool at = input.how & 1;
    uint64_t name = input.how & 4 ? (uint64_t)(uintptr_t) "program" : BASE + input.name;
    struct seccomp_notif asked = {.pid = (uint32_t)getpid()};
    asked.data.nr = at ? SYS_execveat : SYS_execve;
    asked.data.args[at ? 0 : 2] = at ? (uint64_t)AT_FDCWD : 0;
    asked.data.args[at ? 1 : 0] = name;
    asked.data.args[at ? 2 : 1] = (uint64_t)(uintptr_t)vector;
    asked.data.args[4] = at ? input.pointers >> 6 << 12 : 0;
    if (exec_read(&exec, &asked, input.how & 2, &problem) == READ_WELL) {
        check(&exec);
#ifdef FAULT
        abort();
#endif
    }
    expectation_free(&exec.expected);
    exec_drop_handle(&exec);
    if (lowest_free() != lowest) abort();
    return 0;
}
