#!/bin/sh
# curl alone, at the Unix socket: no key.
while read -r _; do
  token=$(curl -sf --unix-socket "$BROKER_SOCKET" http://broker/token)
  status=$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "$OWNER_API_URL/api/1/vehicles")
  echo "$status $(printf %s "$token" | sha256sum | cut -c1-12)"
done
