/* How a process ended, and before Linux 6.15, which does not tell, how it asked to. */
#include "leave.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "exec.h"
#include "handle.h"
#include "listener.h"

bool leave_status(const struct ask *ask, int *status) {
    if (handle_tells_status()) return handle_status(ask->handle.fd, status);
    /* Who has asked to end may still be killed first, and is over only when its handle says so. */
    if (!ask->leaves || ask->disputed || !handle_is_over(ask->handle.fd)) return false;
    *status = ask->status;
    return true;
}

static struct ask *running(pid_t pid) {
    for (struct ask *ask = asks; ask; ask = ask->next)
        if (ask->pid == pid && ask->state == RUNNING) return ask;
    return NULL;
}

static void note(struct ask *ask, int status) {
    /* Which of two threads that ask for different ends is heard by the kernel, nobody knows. */
    ask->disputed |= ask->leaves && ask->status != status;
    ask->leaves = true;
    ask->status = status;
}

void leave_take(struct listening *listening, const struct seccomp_notif *asked) {
    struct seccomp_notif_resp response = {.id = asked->id,
                                          .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    uint64_t valid = asked->id;
    pid_t thread = (pid_t)asked->pid;
    struct ask *ask = running(thread);
    if (!ask) ask = running(process_of(thread));
    /* The process may have gone, and another have its number: seccomp_unotify(2), "Notes". */
    if (ask && listener_ask(listening->source.fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &valid))
        note(ask, (int)(asked->data.args[0] & 0xff) << 8);
    listener_ask(listening->source.fd, SECCOMP_IOCTL_NOTIF_SEND, &response);
}
