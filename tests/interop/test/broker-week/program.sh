#!/bin/sh
# A shell script with a key of its own: for each line on standard input, a token, and a call of the owner API with it.
while read -r _; do
  token=$(curl -sf -H "Authorization: Bearer $BROKER_KEY" "$BROKER_URL/token")
  status=$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "$OWNER_API_URL/api/1/vehicles")
  echo "$status $(printf %s "$token" | sha256sum | cut -c1-12)"
done
