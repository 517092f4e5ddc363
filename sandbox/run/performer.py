"""Performing: what is permitted is carried out, what is asked is put to the approver.

It knows what the loop has decided on and nothing of the agent.
"""

import threading
from dataclasses import dataclass, field, replace

from sandbox.model.action import Action, AskUser, FinalAnswer, RequestApproval
from sandbox.model.decision import Answer, Question
from sandbox.model.event import ApprovalAsked, ApprovalDecided, Final
from sandbox.model.observation import (
    ApprovalResult,
    ErrorCode,
    FinalResult,
    Observation,
    UserAnswered,
)
from sandbox.rules.policy.approvers import Approver
from sandbox.rules.policy.gate import left_to_programs, permit, unanswered
from sandbox.rules.policy.grants import Grant, Grants
from sandbox.rules.policy.rules import Judgement
from sandbox.run.actions.arguments import answer_problem
from sandbox.run.actions.exec_events import use_of
from sandbox.run.actions.gatekeeper import Gatekeeper
from sandbox.run.actions.outcome import Performed, done, refused
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.registry import perform
from sandbox.run.actions.registry_route import Route
from sandbox.run.actions.workspace import Workspace
from sandbox.run.admission import Place
from sandbox.run.budget import Budget
from sandbox.run.ending import Ending
from sandbox.run.facts.observer import Facts
from sandbox.run.live_rules import WatchedTrace


@dataclass(frozen=True, slots=True)
class Judged:
    """An action that was understood, and what the policy says of it."""

    action: Action
    prepared: Prepared
    judgement: Judgement


@dataclass(slots=True)
class Performer:
    """Carries out one action at a time; questions come from several threads."""

    workspace: Workspace
    approver: Approver
    trace: WatchedTrace
    route: Route
    budget: Budget
    place: Place
    grants: Grants = field(default_factory=Grants)
    asking: threading.Lock = field(default_factory=threading.Lock)
    facts: Facts = field(init=False)
    gatekeeper: Gatekeeper | None = None
    """None where no rule is about processes: then nothing is held."""

    def answer(self, judged: Judged, action_id: str | None) -> tuple[Performed, Ending | None]:
        """Carry out what is permitted."""
        used = self._used(judged, action_id)
        if isinstance(used, Observation):
            return Performed(used), None
        match judged.action:
            case AskUser() as asked:
                return self.ask_user(asked, action_id), None
            case RequestApproval() as request:
                return self.ask(request, action_id), None
            case FinalAnswer() as final:
                return self.conclude(final, action_id)
            case _:
                return self.carry_out(judged.prepared, used, action_id or ""), None

    def beside(self, judged: Judged, action_id: str) -> Performed:
        """Carry out what is permitted while another action goes on; it starts no process."""
        used = self._used(judged, action_id)
        if isinstance(used, Observation):
            return Performed(used)
        if isinstance(judged.action, AskUser):
            return self.ask_user(judged.action, action_id)
        if isinstance(judged.action, RequestApproval):
            return self.ask(judged.action, action_id)
        workspace = replace(self.workspace, tag=action_id, deadline=self.budget.deadline)
        return perform(judged.prepared, workspace)

    def _used(self, judged: Judged, action_id: str | None) -> tuple[Grant, ...] | Observation:
        """Give the grants that an action uses, or why it is refused."""
        asked, line = judged.judgement.asked, judged.prepared.subject.line
        if self.approver.asked_at_once:
            for question in unanswered(asked, line, self.grants):
                known = {"effect": judged.prepared.effect()}
                self.put(question.model_copy(update=known), action_id)
        used = permit(asked, line, self.grants, judged.judgement.part)
        if isinstance(used, Observation) and self.gatekeeper is not None:
            used = left_to_programs(judged.judgement, used, self.grants)
        if not isinstance(used, Observation):
            for grant in used:
                self.trace.append(use_of(grant), action_id)
        return used

    def carry_out(self, prepared: Prepared, grants: tuple[Grant, ...], tag: str) -> Performed:
        """Carry an action out; what is refused to its processes is said in its observation."""
        with self.place.turn() as waited:
            self.budget.add_waiting(waited)
            return self._now(prepared, grants, tag)

    def _now(self, prepared: Prepared, grants: tuple[Grant, ...], tag: str) -> Performed:
        """Carry it out now."""
        workspace = replace(self.workspace, tag=tag, deadline=self.budget.deadline)
        self.facts.begin_action(tag)
        if workspace.running is not None:
            workspace.running.begin(tag)
        if self.gatekeeper is not None:
            self.gatekeeper.begin(tag, prepared.subject.action, grants)
        with self.route.during(tag, grants):
            performed = perform(prepared, workspace)
        if self.gatekeeper is None:
            return performed
        return replace(performed, observation=self.gatekeeper.finish(tag, performed.observation))

    def ask(self, request: RequestApproval, action_id: str | None) -> Performed:
        """Ask beforehand, as the agent wants it."""
        question = Question(scope=request.scope, command=request.command, reason=request.reason)
        answer = self.put(question, action_id)
        return done(
            ApprovalResult(
                approved=answer.approved,
                reason=answer.reason,
                fallback_command=answer.fallback_command,
            )
        )

    def ask_user(self, asked: AskUser, action_id: str | None) -> Performed:
        """Ask whoever gave the task, where the task has such a user."""
        if self.workspace.task.user is None:
            return Performed(refused(ErrorCode.NOT_FOUND, "Nobody is there who could be asked."))
        return done(UserAnswered(answer=self.facts.asked(asked.question, action_id or "")))

    def put(self, question: Question, action_id: str | None) -> Answer:
        """Put a question to the approver and keep the answer; none is kept after the end.

        Also called while a process is held, by the thread that waits for what is decided on it.
        """
        self.trace.append(ApprovalAsked(question=question), action_id or None)
        with self.asking:  # a person reads one question and answers it
            answer = self.approver.answer(question)
        with self.trace.lock:
            if not self.trace.over:
                decided = ApprovalDecided(question=question, answer=answer)
                entry = self.trace.append(decided, action_id or None)
                self.grants.record(question, answer, entry.sequence)
        return answer

    def conclude(
        self, final: FinalAnswer, action_id: str | None
    ) -> tuple[Performed, Ending | None]:
        """Take a final answer whose fields are the right ones; its values are not looked at."""
        problem = answer_problem(final.fields, self.workspace.task.final)
        if problem is not None:
            return Performed(refused(ErrorCode.BAD_ARGUMENTS, problem)), None
        self.trace.append(Final(fields=final.fields, note=final.note), action_id)
        return done(FinalResult()), Ending("final_answer")
