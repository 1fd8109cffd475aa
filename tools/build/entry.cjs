#!/usr/bin/env node
/* Where a program of ours begins (tools/build/entry.mjs), in words that every Node can read, before anything else is loaded. */
/* oxlint-disable no-var, prefer-arrow-callback */
/* global load */
var version = process.versions.node.split('.').map(Number)
var nodes = 'NODES'.split(' || ')

if (nodes.some(isOfThese)) {
  shutDebugger()
  load('PROGRAM')
} else {
  var needed = nodes.map(function (range) {
    return range.replace(/^\D+/, '') + '+'
  })
  var list = needed.join(', ').replace(/, (?!.*,)/, ' or ')
  console.error('NAME needs Node ' + list + '; this is ' + process.version + '.')
  process.exitCode = 2
}

/** As npm reads what is in `engines`: `^20.19` or `>=24`. */
function isOfThese(range) {
  var from = range.replace(/^\D+/, '').split('.').map(Number)
  if (version[0] !== from[0]) return range[0] === '>' && version[0] > from[0]
  return version[1] >= (from[1] || 0)
}

/** SIGUSR1 opens Node's debugger, where every user of the machine may run code as this one: unless somebody listens to it. */
function shutDebugger() {
  process.on('SIGUSR1', function () {})
  if (!process.features.inspector || /--inspect(?!-port)/.test([process.execArgv, process.env.NODE_OPTIONS])) return
  // It may have come while Node itself began.
  shut()
  setImmediate(shut)
  setTimeout(shut, 1000).unref()
}

function shut() {
  var inspector = process.getBuiltinModule('node:inspector')
  if (inspector.url()) inspector.close()
}
