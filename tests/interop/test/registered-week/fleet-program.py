"""A program for a registered application, as strangers write them: a form, its own client id, and no secret. It calls the owner API."""

import hashlib
import json
import os
import sys
import urllib.parse
import urllib.request

refresh_token = os.environ["BROKER_KEY"]
for _ in sys.stdin:
    form = {"grant_type": "refresh_token", "client_id": os.environ["CLIENT_ID"], "refresh_token": refresh_token}
    body = urllib.parse.urlencode(form).encode()
    with urllib.request.urlopen(os.environ["BROKER_URL"] + "/oauth2/v3/token", body, timeout=30) as answer:
        tokens = json.load(answer)
    refresh_token = tokens["refresh_token"]
    access_token = tokens["access_token"]
    headers = {"authorization": "Bearer " + access_token}
    call = urllib.request.Request(os.environ["OWNER_API_URL"] + "/api/1/vehicles", headers=headers)
    with urllib.request.urlopen(call, timeout=30) as answer:
        print(answer.status, hashlib.sha256(access_token.encode()).hexdigest()[:12], flush=True)
