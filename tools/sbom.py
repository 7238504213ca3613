"""goffman.cdx.json: what a wheel of goffman runs with, as CycloneDX 1.6: `make sbom`.

Every package that goffman needs to run, with the version and hashes of requirements.lock, and the
licence and needs that its own metadata state. The build puts the file into each wheel (PEP 770).
"""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import distribution
from typing import Any

from packaging.requirements import Requirement

from lock import ROOT, Builds, normal, read_lock, read_pins

SBOM = ROOT / "goffman.cdx.json"


def main() -> None:
    """Write the file anew."""
    bom = sbom()
    SBOM.write_text(json.dumps(bom, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{SBOM.name}: {len(bom['components'])} packages.")


def sbom() -> dict[str, Any]:
    """Return the content of the file, from the lock and the metadata of what is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock, pins = read_lock(), read_pins()
    needs = _needs(project["dependencies"])
    versions = {name: pins[name][1] for name in needs if name != "goffman"}
    refs = {name: f"pkg:pypi/{name}@{version}" for name, version in versions.items()}
    refs["goffman"] = f"pkg:pypi/goffman@{project['version']}"
    own = _component("goffman", project["version"]) | {
        "type": "application",
        "licenses": [{"expression": project["license"]}],
    }
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [
            _component(name, version) | _origin(name, lock[name]) | _licences(name)
            for name, version in sorted(versions.items())
        ],
        "dependencies": [
            {"ref": refs[name], "dependsOn": sorted(refs[need] for need in needs[name])}
            for name in sorted(needs)
        ],
    }


def _needs(requirements: list[str]) -> dict[str, set[str]]:
    """Name → the names of what it needs on this system, from goffman down to the last."""
    needs: dict[str, set[str]] = {"goffman": set()}
    seen: set[tuple[str, str]] = set()
    waiting = [("goffman", "", requirement) for requirement in requirements]
    while waiting:
        name, extra, requirement = waiting.pop()
        need = Requirement(requirement)
        if need.marker and not need.marker.evaluate({"extra": extra}):
            continue
        needed = normal(need.name)
        needs[name].add(needed)
        needs.setdefault(needed, set())
        for each in {"", *need.extras}:
            if (needed, each) not in seen:
                seen.add((needed, each))
                waiting += [(needed, each, text) for text in distribution(needed).requires or ()]
    return needs


def _component(name: str, version: str) -> dict[str, Any]:
    purl = f"pkg:pypi/{name}@{version}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def _origin(name: str, builds: Builds) -> dict[str, Any]:
    hashes = sorted(each for of_build in builds.values() for each in of_build)
    wheels = [{"alg": "SHA-256", "content": each} for each in hashes]
    page = f"https://pypi.org/simple/{name}/"
    return {"externalReferences": [{"type": "distribution", "url": page, "hashes": wheels}]}


def _licences(name: str) -> dict[str, Any]:
    """Return the licence as the package states it: an expression, or else names."""
    metadata = distribution(name).metadata
    if expression := metadata.get("License-Expression"):
        return {"licenses": [{"expression": expression}]}
    classifiers = metadata.get_all("Classifier") or []
    names = [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License ::")]
    names = names or [(metadata.get("License") or "").partition("\n")[0]]
    return {"licenses": [{"license": {"name": each}} for each in names if each]}


if __name__ == "__main__":
    main()
