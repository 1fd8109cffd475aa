"""A program with nothing but Python's standard library: refreshes as the interface document has it, each time it needs a token."""

import hashlib
import json
import os
import sys
import urllib.request

refresh_token = os.environ["BROKER_KEY"]
for _ in sys.stdin:
    body = {"grant_type": "refresh_token", "client_id": "ownerapi", "refresh_token": refresh_token}
    request = urllib.request.Request(
        os.environ["BROKER_URL"] + "/oauth2/v3/token",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        tokens = json.load(answer)
    refresh_token = tokens["refresh_token"]
    access_token = tokens["access_token"]
    call = urllib.request.Request(
        os.environ["OWNER_API_URL"] + "/api/1/vehicles", headers={"authorization": "Bearer " + access_token}
    )
    with urllib.request.urlopen(call, timeout=30) as answer:
        print(answer.status, hashlib.sha256(access_token.encode()).hexdigest()[:12], flush=True)
