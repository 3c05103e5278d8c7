"""Answers to GraphQL, by the fields that a query asks for at its top."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.wandb_server.project import ENTITY, Project

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[(){}]|\w+:?|\.\.\.')

Variables = Mapping[str, Any]


def top_fields(query: str) -> list[str]:
    """The names, or aliases, of the fields at the top of a query."""
    depth = round_depth = 0
    found: list[str] = []
    alias = False
    for token in TOKEN.findall(query):
        if token in "()":
            round_depth += 1 if token == "(" else -1
        elif round_depth:
            continue
        elif token in "{}":
            depth += 1 if token == "{" else -1
            if not depth:
                break
        elif depth == 1 and not alias:
            found.append(token.rstrip(":"))
        alias = token.endswith(":") and depth == 1
    return found


class Answers:
    """Answers queries from a project and changes it; unknown fields are null, and noted."""

    def __init__(self, project: Project, url: str) -> None:
        self.project, self.url = project, url
        self.unknown: set[str] = set()
        self._number = itertools.count(1)

    def __call__(self, query: str, variables: Variables) -> dict[str, Any]:
        data = {}
        for name in top_fields(query):
            answer: Callable[[Variables], Any] | None = getattr(self, f"_{name}", None)
            if answer is None:
                self.unknown.add(name)
            data[name] = answer(variables) if answer else None
        return {"data": data}

    def _serverInfo(self, variables: Variables) -> Any:  # noqa: N802
        return {
            "features": [],
            "cliVersionInfo": {"max_cli_version": "9.9.9"},
            "latestLocalVersionInfo": None,
        }

    def _viewer(self, variables: Variables) -> Any:
        names = dict.fromkeys(("entity", "username", "name"), ENTITY)
        return {"id": "u", "email": "", "flags": "{}", "teams": {"edges": []}, "admin": False, **names}

    def _entity(self, variables: Variables) -> Any:
        return {"id": "e", "name": ENTITY, "xxhashDigestsEnabled": False, "organization": None}

    def _model(self, variables: Variables) -> Any:
        run = self.project.runs.get(variables["name"])
        base = {"id": "p", "name": variables["project"], "entity": {"id": "e", "name": ENTITY}}
        if run is None:
            return {**base, "bucket": None}
        history = run.streams.get("wandb-history.jsonl", {})
        bucket = {
            "id": f"B-{run.name}",
            "name": run.name,
            "summaryMetrics": json.dumps(run.summary),
            "displayName": run.fields.get("displayName"),
            "logLineCount": len(run.streams.get("output.log", {})),
            "historyLineCount": len(history),
            "eventsLineCount": len(run.streams.get("wandb-events.jsonl", {})),
            "historyTail": json.dumps([history[place] for place in sorted(history)][-1:]),
            "eventsTail": "[]",
            "config": run.fields.get("config") or "{}",
            "tags": run.fields.get("tags") or [],
            "notes": None,
            "wandbConfig": json.dumps({"t": 1}),
        }
        return {**base, "bucket": bucket}

    def _upsertBucket(self, variables: Variables) -> Any:  # noqa: N802
        inserted = variables["name"] not in self.project.runs
        run = self.project.run(variables["name"])
        run.fields |= {key: value for key, value in variables.items() if value is not None}
        project = {"id": "p", "name": variables["project"], "entity": {"id": "e", "name": ENTITY}}
        known = {"id": f"B-{run.name}", "name": run.name, "displayName": run.fields.get("displayName")}
        known |= {"description": "", "config": run.fields.get("config") or "{}", "sweepName": ""}
        known |= {"historyLineCount": len(run.history), "project": project}
        return {"inserted": inserted, "bucket": known}

    def _createRunFiles(self, variables: Variables) -> Any:  # noqa: N802
        place = f"{self.url}/upload/run/{variables['run']}"
        files = [{"name": name, "uploadUrl": f"{place}/{name}"} for name in variables["files"]]
        return {"runID": f"B-{variables['run']}", "uploadHeaders": [], "files": files}

    def _createArtifact(self, variables: Variables) -> Any:  # noqa: N802
        given = dict(variables.get("input") or variables)
        name = f"A{next(self._number)}"
        self.project.artifacts[name] = given
        return {"artifact": {"id": name, "state": "PENDING", "artifactSequence": {"latestArtifact": None}}}

    def _createArtifactManifest(self, variables: Variables) -> Any:  # noqa: N802
        return {"artifactManifest": self._manifest(variables["artifactID"])}

    def _updateArtifactManifest(self, variables: Variables) -> Any:  # noqa: N802
        return {"artifactManifest": self._manifest(variables["artifactManifestID"].removeprefix("M-"))}

    def _manifest(self, artifact: str) -> Any:
        url = f"{self.url}/upload/manifest/{artifact}"
        return {"id": f"M-{artifact}", "file": {"id": "f", "uploadUrl": url, "uploadHeaders": []}}

    def _createArtifactFiles(self, variables: Variables) -> Any:  # noqa: N802
        edges = []
        for each in variables["input"]["artifactFiles"]:
            url = f"{self.url}/upload/artifact/{each['artifactID']}/{each['name']}"
            node = {"storagePath": "s", "uploadUrl": url, "uploadHeaders": [], "uploadMultipartUrls": None}
            edges.append({"node": {**node, "name": each["name"], "artifact": {"id": each["artifactID"]}}})
        return {"files": {"edges": edges}}

    def _commitArtifact(self, variables: Variables) -> Any:  # noqa: N802
        return {"artifact": {"id": variables["artifactID"], "digest": ""}}

    def _project(self, variables: Variables) -> Any:
        name = variables.get("project") or variables.get("projectName") or variables.get("name")
        kind, view = variables.get("viewType", "runs"), variables.get("viewName")
        views = [
            {"node": {**each, "user": None, "project": {"id": "p", "name": name, "entityName": ENTITY}}}
            for each in self.project.views.values()
            if each["type"] == kind and view in (None, each["name"])
        ]
        last = {"hasNextPage": False, "endCursor": None}
        sweep = self.project.sweeps.get(str(variables.get("sweep")))
        return {
            **{"id": "p", "internalId": "p", "name": name, "entityName": ENTITY, "artifact": None},
            **{"artifactType": None, "run": None, "sweep": sweep},
            "allViews": {"edges": views, "pageInfo": last},
        }

    def _models(self, variables: Variables) -> Any:
        names = dict.fromkeys(run.fields["project"] for run in self.project.runs.values())
        nodes = [
            {"id": name, "name": name, "entityName": ENTITY, "isBenchmark": False, "user": None}
            for name in names
        ]
        edges = [{"node": {**node, "createdAt": "2026-01-01T00:00:00"}, "cursor": "c"} for node in nodes]
        return {"edges": edges, "pageInfo": {"hasNextPage": False, "endCursor": None}}

    def _upsertView(self, variables: Variables) -> Any:  # noqa: N802
        known = variables.get("id")
        view = {
            "id": known or f"V{next(self._number)}",
            "description": "",
            **self.project.views.get(known or "", {}),
        }
        view |= {key: value for key, value in variables.items() if value is not None}
        view["project"] = {"id": "p", "name": variables["projectName"], "entityName": ENTITY}
        view |= {"updatedAt": "2026-01-01T00:00:00", "createdAt": "2026-01-01T00:00:00"}
        self.project.views[view["id"]] = view
        return {"view": view, "inserted": not known}

    def _view(self, variables: Variables) -> Any:
        return self.project.views.get(variables["reportId"])

    def _createCustomChart(self, variables: Variables) -> Any:  # noqa: N802
        self.project.charts[variables["chartName"]] = dict(variables)
        return {"chart": {"id": variables["chartName"]}}

    def _upsertSweep(self, variables: Variables) -> Any:  # noqa: N802
        name = variables.get("id") or f"s{next(self._number)}"
        sweep = {
            "id": name,
            "name": name,
            "state": "RUNNING",
            "config": variables.get("config"),
            "runs": {"edges": []},
        }
        sweep["project"] = {
            "id": "p",
            "name": variables.get("projectName"),
            "entity": {"id": "e", "name": ENTITY},
        }
        self.project.sweeps[name] = sweep
        return {"sweep": sweep, "configValidationWarnings": []}

    def _createAgent(self, variables: Variables) -> Any:  # noqa: N802
        return {"agent": {"id": "agent"}}

    def _agentHeartbeat(self, variables: Variables) -> Any:  # noqa: N802
        self.project.heartbeats.append(dict(variables))
        commands = [self.project.commands.pop(0)] if self.project.commands else []
        return {"agent": {"id": "agent"}, "commands": json.dumps(commands)}
