#!/bin/sh
# A program that commands a vehicle through the broker's gateway, which leads to a proxy that would sign commands. It sees no token.
while read -r _; do
  status=$(curl -s -o /dev/null -w '%{http_code}' -X POST -H "Authorization: Bearer $BROKER_KEY" \
    -H 'content-type: application/json' -d '{"on":true}' "$BROKER_URL/api/1/vehicles/$VEHICLE/command/charge_start")
  echo "$status proxied"
done
