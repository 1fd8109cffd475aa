#!/usr/bin/env bash
# A legacy client in a shell: curl, and the first match of the whole page. IDENTITY, CREDENTIAL and, where one is due,
# PASSCODE come in the environment; the first access token, then the one of the refresh, go to stdout, a line each.
set -euo pipefail
cd "$(mktemp -d)"

verifier=$(openssl rand -hex 43)
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d '=')
callback=https://auth.example.com/void/callback
query="client_id=ownerapi&code_challenge=$challenge&code_challenge_method=S256&redirect_uri=$callback"
query="$query&response_type=code&scope=openid+email+offline_access&state=$(openssl rand -hex 8)&login_hint=$IDENTITY"

first() { grep -o "$2" "$1" | head -n 1; }
input() { first login.html "name=\"$1\" value=\"[^\"]*\"" | cut -d '"' -f 4; }
field() { first "$1" "\"$2\":\"[^\"]*\"" | cut -d '"' -f 4; }
call() {
  curl -sS -o vehicles.json -f -H "authorization: Bearer $1" "$OWNER_API_URL/api/1/vehicles"
  echo "$1"
  grep -o '"display_name":"[^"]*"' vehicles.json | cut -d '"' -f 4
}

address=$(curl -sS -L -c jar -b jar -o login.html -w '%{url_effective}' "$AUTH_URL/oauth2/v3/authorize?$query")
base=${address%%/oauth2/*}
transaction=$(input transaction_id)
location=$(curl -sS -b jar -c jar -o answer.html -w '%{redirect_url}' "$address" \
  -d "_csrf=$(input _csrf)" -d "_phase=$(input _phase)" -d "_process=$(input _process)" \
  -d "transaction_id=$transaction" -d 'cancel=' \
  --data-urlencode "identity=$IDENTITY" --data-urlencode "credential=$CREDENTIAL")

if grep -q 'name="passcode"' answer.html; then
  curl -sS -b jar -o factors.json "$base/oauth2/v3/authorize/mfa/factors?transaction_id=$transaction"
  curl -sS -b jar -o verified.json -H 'content-type: application/json' "$base/oauth2/v3/authorize/mfa/verify" -d "{
    \"transaction_id\": \"$transaction\", \"factor_id\": \"$(field factors.json id)\", \"passcode\": \"$PASSCODE\"
  }"
  location=$(curl -sS -b jar -o answer.html -w '%{redirect_url}' "$address" -d "transaction_id=$transaction")
fi

code=$(sed -E 's/.*[?&]code=([^&]+).*/\1/' <<< "$location")
curl -sS -o tokens.json "$base/oauth2/v3/token" -d grant_type=authorization_code -d client_id=ownerapi \
  -d "code=$code" -d "code_verifier=$verifier" -d "redirect_uri=$callback"
call "$(field tokens.json access_token)"
curl -sS -o fresh.json "$base/oauth2/v3/token" -d grant_type=refresh_token -d client_id=ownerapi \
  -d "refresh_token=$(field tokens.json refresh_token)"
call "$(field fresh.json access_token)"
