"""A token broker in Python's standard library: the required part of docs/reference/broker-protocol.md.

    AUTH_URL=https://auth.example.com python3 broker.py 8700

Its folder, which only its user can enter, has two files: refresh_token, the account's, and keys, the SHA-256 of each
program's key, one a line. To shut a program out, take out its line.
"""
import hashlib, json, os, ssl, sys, threading, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

lock, current = threading.Lock(), {"expires_at": 0, "try_at": 0, "error": None}
tls = ssl.create_default_context()
tls.maximum_version = ssl.TLSVersion.TLSv1_2

def refresh():
    fields = {"grant_type": "refresh_token", "client_id": "ownerapi", "scope": "openid email offline_access"}
    body = json.dumps({**fields, "refresh_token": open("refresh_token").read()}).encode()
    request = urllib.request.Request(os.environ["AUTH_URL"] + "/oauth2/v3/token", body, {"content-type": "application/json"})
    answer = json.load(urllib.request.urlopen(request, timeout=30, context=tls))
    if "refresh_token" in answer:  # kept before anybody is served: the one before is spent
        with open("refresh_token.new", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(answer["refresh_token"])
        os.replace("refresh_token.new", "refresh_token")
    current.update(access_token=answer["access_token"], expires_at=time.time() + answer["expires_in"], error=None)

def token_and_seconds():
    with lock:  # one refresh, however many programs ask
        if current["expires_at"] < time.time() + 60 and current["try_at"] < time.time():
            current["try_at"] = time.time() + 60  # whatever comes of it: the service blocks who asks too often
            try: refresh()
            except (OSError, ValueError) as error: current["error"] = error
        if current["expires_at"] < time.time() + 1: raise Unavailable(getattr(current["error"], "code", None) in (400, 401))
        return current["access_token"], int(current["expires_at"] - time.time())

class Unavailable(Exception):
    """Its argument: whether the account has to sign in again."""

def is_let_in(key):
    return hashlib.sha256(str(key).encode()).hexdigest() in open("keys").read().split()

class Broker(BaseHTTPRequestHandler):
    protocol_version, timeout = "HTTP/1.1", 10

    def reply(self, status, body, kind="application/json", headers={}):
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": len(data), "cache-control": "no-store", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if status != 304: self.wfile.write(data)

    def problem(self, status, code, headers={}):
        self.reply(status, {"status": status, "code": code}, "application/problem+json", headers)

    def do_POST(self):
        if self.path != "/oauth2/v3/token": return self.problem(404, "ERR_BROKER_NOT_FOUND")
        try: fields = dict(json.loads(self.rfile.read(min(int(self.headers["content-length"]), 16384))))
        except (ValueError, TypeError): return self.reply(400, {"error": "invalid_request"})
        if fields.get("grant_type") != "refresh_token": return self.reply(400, {"error": "unsupported_grant_type"})
        if not is_let_in(fields.get("refresh_token")): return self.reply(400, {"error": "invalid_grant"})
        try: token, seconds = token_and_seconds()
        except Unavailable as why:
            return self.reply(*(400, {"error": "login_required"}) if why.args[0] else (503, {"error": "temporarily_unavailable"}))
        self.reply(200, {"access_token": token, "refresh_token": fields["refresh_token"], "expires_in": seconds, "token_type": "Bearer"})

    def do_GET(self):
        if self.path != "/token": return self.problem(404, "ERR_BROKER_NOT_FOUND")
        key = self.headers.get("authorization", "").removeprefix("Bearer ")
        if not is_let_in(key): return self.problem(401, "ERR_BROKER_UNKNOWN_KEY", {"www-authenticate": "Bearer"})
        try: token, _ = token_and_seconds()
        except Unavailable as why:
            return self.problem(*(401, "ERR_SSO_REAUTHENTICATION_REQUIRED") if why.args[0] else (503, "ERR_SSO_UNREACHABLE"))
        etag = '"' + hashlib.sha256(token.encode()).hexdigest()[:22] + '"'
        self.reply(304 if self.headers.get("if-none-match") == etag else 200, token, "text/plain", {"etag": etag})

server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Broker)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
