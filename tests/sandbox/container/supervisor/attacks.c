/* What a process may try against being seen, one mode for each; run by test_execs.py. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Torn paths run nothing, and ptrace does not see them: a few more than the test wants. */
#define ROUNDS 75

static char *const nothing[] = {NULL};
static char *volatile target;
static const char *first, *second;

static int failed(void) {
    puts(strerror(errno));
    return 0;
}

/* Writes one string over the other again and again; both have the same length. */
static void *flip(void *unused) {
    size_t length = strlen(first);
    for (;;) {
        memcpy(target, second, length);
        usleep(30);
        memcpy(target, first, length);
        usleep(30);
    }
    return unused;
}

static void in_child(void (*work)(void *), void *with) {
    pid_t child = fork();
    if (child == 0) {
        work(with);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

/* Execs a path that another thread changes. */
static void race_path(void *unused) {
    pthread_t thread;
    char *path = strdup(first), *arguments[] = {"name", NULL};
    target = path;
    pthread_create(&thread, NULL, flip, unused);
    usleep(100);
    execve(path, arguments, nothing);
}

/* Execs a program with an argument that another thread changes. */
static void race_argument(void *program) {
    pthread_t thread;
    char *argument = strdup(first), *arguments[] = {"name", argument, NULL};
    target = argument;
    pthread_create(&thread, NULL, flip, NULL);
    usleep(100);
    execve(program, arguments, nothing);
}

/* Makes `link` lead to one file and the other, while it is executed. */
static int race_link(char *link, int rounds) {
    char next[4096];
    pid_t parent = getpid(), other = fork();
    snprintf(next, sizeof next, "%s.next", link);
    bool good = true;
    while (getpid() != parent) {
        unlink(next);
        if (symlink(good ? first : second, next) == 0) rename(next, link);
        good = !good;
        usleep(50);
    }
    while (access(link, F_OK)) usleep(10);
    for (int round = 0; round < rounds; round++) {
        pid_t child = fork();
        if (child == 0) {
            execve(link, (char *const[]){"name", NULL}, nothing);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
    kill(other, SIGKILL);
    return 0;
}

static void *exec_now(void *program) {
    execve(program, (char *const[]){program, "thread", NULL}, nothing);
    return NULL;
}

static int by_thread(char *program) {
    pthread_t thread;
    pthread_create(&thread, NULL, exec_now, program);
    pthread_join(thread, NULL);
    return 1;
}

static int by_descriptor(char *program, bool in_memory) {
    int fd = open(program, O_RDONLY);
    if (in_memory) {
        char buffer[65536];
        ssize_t length;
        int memory = memfd_create("memory", 0);
        while ((length = read(fd, buffer, sizeof buffer)) > 0)
            if (write(memory, buffer, (size_t)length) != length) return 1;
        fd = memory;
    }
    syscall(SYS_execveat, fd, "", (char *const[]){"name", "descriptor", NULL}, nothing,
            0x1000 /* AT_EMPTY_PATH */);
    return failed();
}

static int with_arguments(char *program, size_t bytes, size_t size) {
    size_t count = bytes / size;
    char **arguments = calloc(count + 2, sizeof *arguments);
    for (size_t i = 0; i < count; i++) {
        arguments[i] = malloc(size);
        memset(arguments[i], 'a' + (int)(i % 26), size - 1);
        arguments[i][size - 1] = 0;
    }
    execve(program, arguments, nothing);
    return failed();
}

static int foreign(bool x32, char *program) {
    long result = -1;
#ifdef __x86_64__
    if (x32) {
        errno = 0;
        result = syscall(0x40000000 | 520, program, nothing, nothing);
        return failed();
    }
    char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
                     -1, 0);
    strcpy(low, program);
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(11), "b"(low), "c"(0), "d"(0)
                     : "memory", "r8", "r9", "r10", "r11");
#endif
    errno = (int)-result;
    return failed();
}

static int hidden(char *program) {
    prctl(PR_SET_DUMPABLE, 0);
    execve(program, (char *const[]){program, NULL}, nothing);
    return failed();
}

static int against(pid_t supervisor) {
    errno = 0;
    kill(supervisor, SIGKILL);
    failed();
    kill(supervisor, SIGSTOP);
    failed();
    ptrace(PTRACE_SEIZE, supervisor, NULL, NULL);
    return failed();
}

/* Wants a child that nobody traces, in two ways; then to trace and to be traced. */
static int untraced(char *program) {
    const unsigned long flags = 0x00800000 /* CLONE_UNTRACED */ | SIGCHLD;
    unsigned long request[8] = {0x00800000, 0, 0, 0, SIGCHLD}; /* struct clone_args */
    for (int way = 0; way < 2; way++) {
        errno = 0;
        long child = way ? syscall(SYS_clone3, request, sizeof request)
                         : syscall(SYS_clone, flags, NULL, NULL, NULL, 0);
        if (child == 0) {
            execve(program, (char *const[]){program, NULL}, nothing);
            _exit(1);
        }
        if (child > 0) waitpid((pid_t)child, NULL, 0);
        failed();
    }
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    failed();
    ptrace(PTRACE_SEIZE, getppid(), NULL, NULL);
    return failed();
}

/* Forks and execs as fast as it can, several at once; each tenth time another program. */
static int flood(char *program, int count, int at_once, char *other) {
    for (int worker = 0; worker < at_once; worker++) {
        if (fork()) continue;
        for (int i = 0; i < count / at_once; i++) {
            pid_t child = vfork();
            if (child == 0) {
                char *chosen = i % 10 == 9 ? other : program;
                execve(chosen, (char *const[]){chosen, NULL}, nothing);
                _exit(127);
            }
            waitpid(child, NULL, 0);
        }
        _exit(0);
    }
    while (wait(NULL) > 0) {
    }
    return 0;
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    bool interprets = strstr(arguments[0], "interpreter") != NULL;
    if (count == 1 || interprets) { /* it has replaced another program: leave a mark beside the file */
        char path[4096];
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - 8);
        strcpy(path + length, ".mark");
        return open(path, O_CREAT | O_WRONLY, 0644) < 0;
    }
    if (strcmp(mode, "argument-2") == 0) return open("mark", O_CREAT | O_WRONLY, 0644) < 0;
    if (strcmp(mode, "argument-1") == 0) return 0;
    if (strcmp(mode, "against") == 0) return against(atoi(arguments[2]));
    if (count < 3) return 0;
    char *program = arguments[2];
    int number = count > 3 ? atoi(arguments[3]) : 0;
    if (strcmp(mode, "thread") == 0) return by_thread(program);
    if (strcmp(mode, "descriptor") == 0) return by_descriptor(program, false);
    if (strcmp(mode, "memory") == 0) return by_descriptor(program, true);
    if (strcmp(mode, "big") == 0) return with_arguments(program, 1900000, 100000);
    if (strcmp(mode, "many") == 0) return with_arguments(program, 400000, 4);
    if (strcmp(mode, "int80") == 0) return foreign(false, program);
    if (strcmp(mode, "x32") == 0) return foreign(true, program);
    if (strcmp(mode, "untraced") == 0) return untraced(program);
    if (strcmp(mode, "hidden") == 0) return hidden(program);
    if (strcmp(mode, "flood") == 0) {
        int at_once = count > 4 ? atoi(arguments[4]) : 4;
        return flood(program, number, at_once, count > 5 ? arguments[5] : program);
    }
    first = arguments[2];
    second = arguments[3];
    pid_t waker = count > 4 && strcmp(arguments[4], "wake") == 0 ? fork() : -1;
    while (waker == 0) kill(0, SIGCONT);
    if (strcmp(mode, "link") == 0) return race_link(arguments[4], ROUNDS);
    for (int round = 0; round < ROUNDS; round++) {
        if (strcmp(mode, "path") == 0) in_child(race_path, NULL);
        if (strcmp(mode, "argument") == 0) in_child(race_argument, arguments[4]);
    }
    if (waker > 0) kill(waker, SIGKILL);
    return 0;
}
