#!/bin/sh
# A program that never sees a token: it calls the owner API through the broker, with its key.
while read -r _; do
  echo "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $BROKER_KEY" "$BROKER_URL/api/1/vehicles") proxied"
done
