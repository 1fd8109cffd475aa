/** Pages made by hand to keep a parser busy, each about as large as the byte cap lets through (reliability G1, G2). */

const cap = 256 * 1024

/** The markup as often as the byte cap allows. */
const filled = (markup: string, before = ''): string => before + filledTo(cap - before.length, markup)

/** The markup as often as it fits into so many characters. */
export const filledTo = (size: number, markup: string): string =>
  markup === '' ? '' : markup.repeat(Math.floor(size / markup.length))

const many = (count: number, piece: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => piece(index)).join('')

/** Beyond the limits on tags, depth, attributes and inputs: refused before there is a document. */
export const refusedPages: [name: string, page: string][] = [
  ['nested divs', filled('<div>')],
  ['nested tables', filled('<table><tr><td>')],
  ['nested links', filled('<a>')],
  ['nested formatting', filled('<b><i><u><font>')],
  ['nested lists', filled('<ul><li>')],
  ['nested drop-downs', filled('<select><option>')],
  ['nested buttons', filled('<button>')],
  ['nested HTML templates', filled('<template>')],
  ['nested MathML', filled('<math><mi>')],
  ['nested foreign objects', filled('<svg><foreignObject>')],
  ['nested tags of no meaning', filled('<x-y>')],
  ['attributes', `<p ${many(30_000, (index) => `a${index} `)}>`],
  ['inputs', filled('<input name=a type=hidden>')],
  ['inputs of different names', many(10_000, (index) => `<input name=n${index}>`)],
  ['flat tags', filled('<b></b>')],
  ['void tags', filled('<br>')],
  ['closing tags', filled('</p>', '<div>')],
  ['misnested tags', filled('<a><b></a>')],
  ['tags misplaced in a table', filled('<b>x', '<table>')],
  ['frames', filled('<frameset><frame>')],
  ['a document in a document', filled('<html><body>')],
  ['templates in templates', filled('<i>', '<script type="text/html">')],
  ['one entity of a thousand digits', filled('0', '&#x')],
  ['text misplaced in a table', filled('x</x>', `${filledTo(20_000, '<b></b>')}<table>`)],
  ['attributes of a document that begins again', many(15_000, (index) => `<html a${index}>`)],
  ['many templates', filled('<script type="text/html"><i><i><i></script>')],
]

/** Within the limits: read, and soon. */
export const heavyPages: [name: string, page: string][] = [
  ['nested forms', filled('<form>')],
  ['the same attribute', filled(' a=b', '<p')],
  ['attributes without a space', filled('a="b"', '<p ')],
  ['closing tags of nothing', filled('</x>', '<div>')],
  ['entities', filled('&amp;')],
  ['entities that never end', filled('&a')],
  ['an endless comment', filled(' --', '<!--')],
  ['comments', filled('<!-->')],
  ['declarations', filled('<!doctype html>')],
  ['processing instructions', filled('<?x?>')],
  ['CDATA', filled(']]', '<svg><![CDATA[')],
  ['an endless attribute', filled('&quot;', '<p a="')],
  ['an endless name of a tag', filled('a', '<')],
  ['text', filled('a ')],
  ['zeros', filled('\u0000')],
  ['text of half characters', filled('\ud800')],
  ['messages', filled('"a\\', '<script>var messages = {')],
  ['half a tag', filled('<')],
  ['half a closing tag', filled('</')],
  ['a script that never ends', filled('</scrip', '<script>')],
  ['a text area that never ends', filled('</textare', '<textarea>')],
  ['a style that never ends', filled('a{}', '<style>')],
  ['spaces', filled(' ', '<title>')],
]

const kept = 64 * 1024

/** Within most of the limits, and long to search for whoever looks things up one by one. */
export const longSearches: [name: string, page: string][] = [
  ['inputs that name none of many forms', many(499, () => '<input form=z>') + filledTo(kept, '<form id=a></form>')],
  ['inputs that name none of many nameless forms', many(499, () => '<input form=z>') + filledTo(kept, '<form></form>')],
  ['inputs far below', `${'<div>'.repeat(250)}${many(499, () => `<input name=${'a'.repeat(100)}>`)}`],
  ['titles', filledTo(kept, '<title>x</title>')],
  ['titles in titles', filledTo(kept, '<svg><title>')],
  ['scripts', filledTo(kept, '<script></script>')],
  ['script templates', filledTo(kept, '<script type=text/html>x</script>')],
  ['styles', filledTo(kept, '<style></style>x')],
  ['what is shown without scripts', filledTo(kept, '<noscript>x</noscript>y')],
  ['HTML templates', filledTo(kept, '<template>x</template>y')],
]

/** What hostile markup is made of. */
export const hostilePieces =
  '<b>|</b>|<a>|</a>|<p>|<table>|<td>|<html |<select>|<form>|</form>|<form id=a>|<input form=a>|<input>|<input |a=b |>|<div>|</div>|</p>|<script>|<script type=text/html>|</script>|<title>|</title>|<style>|<template>|<svg>|<!--|-->|&amp;|&#| |"|messages = {|reference # |verify that '.split(
    '|',
  )
