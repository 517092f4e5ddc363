/* Work as root: asked for by `sudo`, decided on by the host, done below the command's shim. */
#include "root.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ask.h"
#include "descriptor.h"
#include "order.h"
#include "sudo.h"
#include "tracer.h"

#define WORKS_MOST 64

enum state_of_work { NEW, STARTING, SEIZED, TOLD, GRANTED };

/* One request, from its client to the end of the process that was started for it. */
struct work {
    struct work *next;
    struct source client, channel; /* of the program `sudo`; of the process that is to be root */
    struct watch *watch;
    pid_t asker, pid;
    enum state_of_work state;
    struct first first;
};

static struct source door = {.fd = -1};
static struct work *works;
static int work_count;
static bool granted;
static source_handler *listened_to;

static void open_door(void *owner, uint32_t what);

/* Else root could write to the host in our name: the kernel has to keep our descriptors from all
   who may not trace us, proc(5). gVisor shows them to everybody. */
static bool is_alone_with_its_descriptors(void) {
    struct stat found;
    return stat("/proc/self/fd", &found) == 0 && !(found.st_mode & (S_IRWXG | S_IRWXO));
}

void root_prepare(source_handler *listened) {
    listened_to = listened;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + sizeof SUDO_DOOR;
    if (getpid() != 1 || !user_is_root() || !is_alone_with_its_descriptors()) return;
    memcpy(address.sun_path + 1, SUDO_DOOR, sizeof SUDO_DOOR - 1);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* A name without a file, which nobody can remove or put another at: unix(7), "abstract". */
    bool open = fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 16) == 0;
    if (!open || !source_open(&door, fd, open_door, NULL)) close_descriptor(&fd);
    door.fd = fd;
}

bool root_was_granted(void) {
    return granted;
}

bool root_works(void) {
    return door.fd >= 0;
}

static void work_close(struct work *work) {
    struct work **at = &works;
    while (*at != work) at = &(*at)->next;
    *at = work->next;
    source_close(&work->client);
    source_close(&work->channel);
    first_free(&work->first);
    free(work);
    work_count--;
}

static void answer_client(struct work *work, const struct sudo_answer *text) {
    if (work->client.fd < 0) return;
    send(work->client.fd, text, sizeof *text, MSG_NOSIGNAL | MSG_DONTWAIT);
    source_close(&work->client);
}

static void refuse_client(struct work *work, const char *what, const char *why) {
    struct sudo_answer text = {.refused = 1};
    snprintf(text.reason, sizeof text.reason, "%s%s%s", what, *why ? ": " : "", why);
    answer_client(work, &text);
}

/* Nothing has been started, or what has goes by itself. */
static void give_up(struct work *work, const char *what, const char *why) {
    refuse_client(work, what, why);
    work_close(work);
}

/* ---- the request ---- */

static void client_turn(void *owner, uint32_t what);

static void open_door(void *owner, uint32_t what) {
    (void)owner, (void)what;
    int client = accept4(door.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    struct work *work = work_count < WORKS_MOST ? calloc(1, sizeof *work) : NULL;
    if (!work) {
        close(client);
        return;
    }
    work->next = works;
    works = work;
    work_count++;
    work->client.fd = work->channel.fd = -1;
    if (!source_open(&work->client, client, client_turn, work)) work_close(work);
}

/* Keeps what the host will be told of the words and the working directory. */
static bool keep(struct work *work, const struct order *order) {
    struct first *first = &work->first;
    first->arguments_length = order_words(order);
    first->arguments = malloc(first->arguments_length);
    first->program = calloc(1, PATH_MAX);
    first->cwd = calloc(1, PATH_MAX);
    if (!first->arguments || !first->program || !first->cwd) return false;
    memcpy(first->arguments, order->text, first->arguments_length);
    exec_name_of(order->descriptors[3], first->cwd);
    return true;
}

static void channel_turn(void *owner, uint32_t what);

static void take_request(struct work *work) {
    static struct order order;
    struct ucred from;
    socklen_t size = sizeof from;
    int pair[2] = {-1, -1};
    if (!order_receive(work->client.fd, &order)) return give_up(work, "this is not a request", "");
    /* Who connected, told by the kernel and not by the client: unix(7), SO_PEERCRED. */
    bool known = getsockopt(work->client.fd, SOL_SOCKET, SO_PEERCRED, &from, &size) == 0;
    work->watch = known ? watch_of(from.pid) : NULL;
    work->asker = known ? from.pid : 0;
    const char *problem = "";
    if (!work->watch) problem = "only the commands of an action may ask for root";
    else if (!keep(work, &order) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ||
             !source_open(&work->channel, pair[0], channel_turn, work) ||
             !order_send(work->watch->orders, &order, pair[1], &from))
        problem = "no room for it";
    else if (work->watch->shim > 0) kill(work->watch->shim, SHIM_ORDER);
    close_descriptor(&pair[1]);
    order_forget(&order);
    work->state = STARTING;
    if (*problem) give_up(work, problem, "");
}

/* ---- the process ---- */

static void tell_host(struct work *work) {
    int problem = 0;
    enum reading reading = exec_first(&present, &work->first, true, &problem);
    struct ask *ask = NULL;
    work->state = TOLD;
    if (reading == READ_WELL) {
        present.flags |= EXECUTION_PRIVILEGED;
        present.parent = work->asker;
        ask = ask_root(work->watch, &present, work);
        problem = EAGAIN;
    }
    if (ask) return;
    expectation_free(&present.expected);
    refuse_client(work, work->first.program, strerror(problem));
    kill(work->pid, SIGKILL);
}

static void receive(struct work *work) {
    struct watch *watch = work->watch;
    if (work->state == GRANTED) {
        listening_receive(watch, work->channel.fd, &work->first, listened_to);
        return source_close(&work->channel);
    }
    if (watch->traced && work->state == STARTING) {
        if (tracer_seize(work->channel.fd) <= 0) return give_up(work, "it cannot be traced", "");
        work->state = SEIZED;
        return;
    }
    work->pid = order_ready(work->channel.fd, work->first.program);
    work->first.pid = work->pid;
    if (work->pid > 0) return tell_host(work);
    give_up(work, work->first.arguments, strerror(-work->pid));
}

static void leave(struct work *work) {
    source_close(&work->client);
    if (work->pid <= 0) return work_close(work);
    kill(-work->pid, SIGKILL);
    kill(work->pid, SIGKILL);
}

static void channel_turn(void *owner, uint32_t what) {
    struct work *work = owner;
    if (what & EPOLLIN) return receive(work);
    if (work->pid <= 0) return give_up(work, "it could not be started", "");
    source_close(&work->channel);
}

static void client_turn(void *owner, uint32_t what) {
    struct work *work = owner;
    if (what & EPOLLIN && work->state == NEW) return take_request(work);
    leave(work);
}

void root_answer(struct ask *ask, int problem, const char *reason) {
    struct work *work = ask->work;
    send(work->channel.fd, &problem, sizeof problem, MSG_NOSIGNAL | MSG_DONTWAIT);
    work->state = GRANTED;
    if (problem) refuse_client(work, "not allowed", reason);
    else granted = true;
    if (problem || work->watch->traced || work->watch->blind) source_close(&work->channel);
}

void root_ended(uint32_t id, pid_t pid, int status) {
    struct sudo_answer text = {.status = status};
    for (struct work *work = works; work; work = work->next) {
        if (work->pid != pid || !work->watch || work->watch->id != id) continue;
        if (work->state == GRANTED) answer_client(work, &text);
        else refuse_client(work, "it ended before it was decided on", "");
        ask_root_ended(work);
        return work_close(work);
    }
}

void root_left(const struct watch *watch) {
    struct work *next;
    for (struct work *work = works; work; work = next) {
        next = work->next;
        if (work->watch != watch) continue;
        refuse_client(work, "its command has ended", "");
        ask_root_ended(work);
        work_close(work);
    }
}
