/* Where there is no listener: programs are seen by ptrace, each before its first instruction. */
#include "tracer.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter.h"
#include "user.h"

#define OPTIONS                                                                                    \
    (PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |         \
     PTRACE_O_EXITKILL)
#define EVENT(status) ((status) >> 16)

static bool works;

static bool seize(pid_t pid) {
    /* Unlike PTRACE_ATTACH it sends no SIGSTOP, and EXITKILL leaves none running without us:
       ptrace(2). */
    return ptrace(PTRACE_SEIZE, pid, NULL, (void *)(long)OPTIONS) == 0;
}

/* One that changed its user is not dumpable, and then nobody traces it: ptrace(2). */
static bool may_be_traced(void) {
    return user_unite() && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

void tracer_prepare(bool wanted) {
    int status;
    works = false;
    if (!wanted || !filter_works()) return;
    pid_t child = fork();
    if (child == 0 && !may_be_traced()) _exit(1);
    while (child == 0) raise(SIGSTOP);
    if (child < 0 || waitpid(child, &status, WUNTRACED | __WALL) != child) return;
    works = WIFSTOPPED(status) && seize(child);
    if (WIFSTOPPED(status)) kill(child, SIGKILL);
    while (waitpid(child, &status, __WALL) == child && WIFSTOPPED(status)) {
    }
}

bool tracer_works(void) {
    return works;
}

bool tracer_wanted(int socket) {
    pid_t pid = getpid();
    int problem = EPIPE;
    if (!may_be_traced()) return false;
    if (send(socket, &pid, sizeof pid, MSG_NOSIGNAL) == sizeof pid)
        while (recv(socket, &problem, sizeof problem, 0) < 0 && errno == EINTR) {
        }
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    errno = problem;
    return problem == 0;
}

pid_t tracer_seize(int socket) {
    pid_t pid;
    if (recv(socket, &pid, sizeof pid, MSG_DONTWAIT) != sizeof pid) return -1;
    int problem = seize(pid) ? 0 : errno;
    ssize_t sent = send(socket, &problem, sizeof problem, MSG_NOSIGNAL | MSG_DONTWAIT);
    return problem || sent < 0 ? -1 : pid;
}

/* Another architecture has other numbers; a clone may ask not to be traced, and the flags of
   clone3 cannot be seen. */
bool tracer_confine(void) {
    static const struct sock_filter own[] = {
        REFUSE_CALL(SYS_clone, 0, CLONE_UNTRACED, CLONE_UNTRACED),
        IF_EQUAL(SYS_clone3, 1),
        REFUSE(ENOSYS),
        IF_EQUAL(SYS_ptrace, 1),
        REFUSE(EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_filter filter[FILTER_NATIVE + sizeof own / sizeof *own];
    size_t length = filter_start(filter);
    memcpy(filter + length, own, sizeof own);
    struct sock_fprog program = {(unsigned short)(sizeof filter / sizeof *filter), filter};
    /* A filter stays over exec and in children: seccomp(2). */
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Whether a signal stops processes: then the event says that it has, not that it is due. */
static bool stops(int number) {
    return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

void tracer_resume(pid_t pid, int status) {
    int number = WSTOPSIG(status);
    /* One that a signal has stopped stays so, and still tells of SIGCONT: ptrace(2),
       "Group-stop". */
    if (EVENT(status) == PTRACE_EVENT_STOP && stops(number)) ptrace(PTRACE_LISTEN, pid, NULL, NULL);
    else ptrace(PTRACE_CONT, pid, NULL, (void *)(long)(EVENT(status) ? 0 : number));
}

bool tracer_is_exec(int status) {
    return EVENT(status) == PTRACE_EVENT_EXEC;
}

bool tracer_continue(pid_t pid) {
    return ptrace(PTRACE_CONT, pid, NULL, NULL) == 0;
}
