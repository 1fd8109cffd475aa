/** What is posted of a login page: the very fields that a real Chromium posts, however the page is written. */
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Browser, describeInChromium, launchChromium, type Page } from '../../../../tests/support/chromium.ts'
import { createSso } from '../../src/index.ts'
import { html, type SmallService, startSmallService } from '../small-service.ts'

const identity = 'owner@example.com'
const credential = 'correct horse'
const typed = [`identity=${identity}`, `credential=${credential}`]
const fields = '<input name="identity"><input type="password" name="credential">'
const hidden = (name: string, more = ''): string => `<input type="hidden" name="${name}" value="${name}" ${more}>`
const form = (inner: string): string => `<form method="post">${inner}${fields}</form>`

/** By what is odd about them. */
const pages: [name: string, page: string][] = [
  // Forms that are nested, or end early.
  ['a form in a form', form(hidden('a') + form(hidden('b')))],
  [
    'a form in a form, and inputs on both sides',
    `<form method="post">${hidden('a')}<form>${fields}</form>${hidden('b')}</form>`,
  ],
  [
    'three forms in each other',
    `<form method="post">${hidden('a')}<form>${hidden('b')}${form(hidden('c'))}</form></form>`,
  ],
  [
    'a nested form with an action of its own',
    `<form method="post">${hidden('a')}<form action="/x">${fields}</form></form>`,
  ],
  ['a form that ends within a div', `<form method="post"><div>${hidden('a')}</form>${hidden('b')}${fields}</div>`],
  [
    'a form that ends within a div, and one after it',
    `<form method="post"><div>${hidden('a')}</form>${form(hidden('b'))}</div>`,
  ],
  ['a form without an end', `<form method="post">${hidden('a')}${fields}<p>${hidden('b')}`],
  ['a form that ends twice', `${form(hidden('a'))}</form>${hidden('b')}`],
  // Tables.
  [
    'a form between table and row',
    `<table><form method="post"><tr><td>${hidden('a')}${fields}</td></tr></form></table>`,
  ],
  [
    'fields that a table may not hold',
    `<table><form method="post">${fields}${hidden('a')}<tr><td>${hidden('b')}</table>`,
  ],
  [
    'hidden inputs straight in a table',
    `<form method="post"><table>${hidden('a')}<tr>${hidden('b')}<td>${fields}</table></form>`,
  ],
  // What a browser has no inputs of.
  ...[
    'template',
    'iframe',
    'noframes',
    'noembed',
    'noscript',
    'xmp',
    'textarea',
    'title',
    'style',
    'script',
    'svg',
  ].map((name): [string, string] => [`inputs in ${name}`, form(`${hidden('a')}<${name}>${hidden('b')}</${name}>`)]),
  [
    'a template in a template',
    form(`<template><template>${hidden('a')}</template>${hidden('b')}</template>${hidden('c')}`),
  ],
  ['a form in a template around fields', `<template><form method="post"></template>${form(hidden('a'))}`],
  ['a template in a table', `<table><template>${form(hidden('a'))}</template></table>${form(hidden('b'))}`],
  ['inputs in MathML', form(`<math><mi>${hidden('a')}</mi>${hidden('b')}</math>`)],
  ['inputs in a foreign object', form(`<svg><foreignObject>${hidden('a')}</foreignObject></svg>`)],
  ['inputs in a select', form(`<select><option>${hidden('a')}</select>${hidden('b')}`)],
  ['inputs in a button', form(`<button>${hidden('a')}</button>`)],
  ['inputs in object and video', form(`<object>${hidden('a')}</object><video>${hidden('b')}</video>`)],
  ['all in one another', form(`<noscript><template>${hidden('a')}</noscript>${hidden('b')}`)],
  ['a page that goes on as plain text', form(hidden('a')) + `<plaintext>${form(hidden('b'))}`],
  [
    'a page that goes on as plain text in its form',
    `<form method="post">${hidden('a')}${fields}<plaintext>${hidden('b')}`,
  ],
  // Comments, attributes and declarations that do not end as expected.
  ['a comment without an end', form(hidden('a')) + `<!-- ${form(hidden('b'))}`],
  ['comments that end soon', form(`<!-->${hidden('a')}<!--->${hidden('b')}<!-- x --!>${hidden('c')}<!-- --!-->`)],
  [
    'no comments',
    form(`<?x ${hidden('a')} ?>${hidden('b')}<![CDATA[${hidden('c')}]]>${hidden('d')}</ ${hidden('e')}>`),
  ],
  [
    'a comment in a script',
    form(`<script><!--<script>${hidden('a')}</script>${hidden('b')}--></script>${hidden('c')}`),
  ],
  ['an attribute without an end', form(hidden('a')) + `<p class="${form(hidden('b'))}`],
  ['attributes twice', form('<input type="hidden" type="text" name="a" name="b" value="1" value="2">')],
  ['attributes without quotes', form('<input type=hidden name=a value=a/><input/type=hidden/name=b/value=b>')],
  ['attributes without spaces', form('<input type="hidden"name="a"value="1">')],
  ['signs in names', form('<input type=hidden name="a&amp;b[]" value="&lt;&notit;&copy&ampx&#x80;&#0;">')],
  ['lines', form('<input type=hidden name="a\nb" value="1\r\n2\n3&#13;4">')],
  ['spaces', form('<input type=hidden name=" a " value=" 1 ">')],
  ['no names', form('<input type=hidden value=1><input type=hidden name="" value=2><input type=HIDDEN name=a>')],
  // Owners that are named.
  ['an owner that is named', `<form method="post" id="f">${fields}</form>${hidden('a', 'form=f')}${form('')}`],
  [
    'another owner in the form',
    `<form id="g"></form>${form(hidden('a', 'form=g') + hidden('b', 'form') + hidden('c', 'form=x'))}`,
  ],
  [
    'an owner in a template',
    `<template><p id="f"></p></template>${hidden('a', 'form=f')}<form method="post" id="f">${fields}</form>`,
  ],
  [
    'two owners of the same name',
    `<form method="post" id="f">${fields}</form><form id="f"></form>${hidden('a', 'form=f')}`,
  ],
  ['an owner that was dropped', form(`<form id="g">${hidden('a', 'form=g')}${hidden('b')}`)],
  [
    'an owner in another case',
    `<form method="post" id="F">${fields}${hidden('a', 'form=f')}${hidden('b', 'form=F')}</form>`,
  ],
  // Disabled ones.
  ['a disabled input', form(hidden('a', 'disabled') + hidden('b', 'disabled=false') + hidden('c', 'data-disabled'))],
  ['all disabled', form(hidden('a', 'disabled')) + hidden('b')],
  ['a disabled fieldset', form(`<fieldset DISABLED>${hidden('a')}<p>${hidden('b')}</p></fieldset>${hidden('c')}`)],
  [
    'a legend that is no child of its fieldset',
    form(`<fieldset disabled><div><legend>${hidden('a')}</legend></div></fieldset>${hidden('b')}`),
  ],
  [
    'suggestions',
    form(`<datalist><option>${hidden('a')}</option>${hidden('b')}</datalist><object>${hidden('c')}</object>`),
  ],
  ['a select', form(`<select><option>${hidden('a')}</option>${hidden('b')}</select>`)],
  [
    'drawings',
    form(
      `<svg>${hidden('a')}</svg><math>${hidden('b')}</math><svg><foreignObject>${hidden('c')}</foreignObject></svg>`,
    ),
  ],
  ['the name of the encoding', form(hidden('_charset_') + hidden('_CHARSET_'))],
  [
    'text of other kinds',
    form(`<xmp>${hidden('a')}</xmp><!--${hidden('b')}--!>${hidden('c')}<![CDATA[${hidden('d')}]]>`),
  ],
  ['a disabled form', form(hidden('a')).replace('<form', '<form disabled')],
]

/** For the page: what a person would do with the fields of the form that posts. */
const fillInAndSubmit = `{
  const field = (name) => [...document.querySelectorAll('[name=' + name + ']')].find(({ form }) => form?.method === 'post')
  field('identity').value = ${JSON.stringify(identity)}
  field('credential').value = ${JSON.stringify(credential)}
  HTMLFormElement.prototype.submit.call(field('credential').form)
}`

describeInChromium('the fields that are posted are those that a browser posts, for', () => {
  let service: SmallService
  let browser: Browser
  let tab: Page
  let shown = ''
  let browserPosts: (posted: string) => void = () => undefined

  beforeAll(async () => {
    service = await startSmallService()
    browser = await launchChromium()
    tab = await browser.newPage()
    await tab.route('**/*', async (route) => {
      const posted = route.request().postData()
      if (posted === null) return route.fulfill({ contentType: 'text/html; charset=utf-8', body: shown })
      browserPosts(posted)
      return route.fulfill({ status: 204 })
    })
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
  })

  const others = (body: string): [string, string][] =>
    [...new URLSearchParams(body)].filter((pair) => !typed.includes(pair.join('=')))

  async function postedByBrowser(): Promise<[string, string][]> {
    await tab.goto(`${service.authUrl}/oauth2/v3/authorize`)
    const body = new Promise<string>((resolve) => (browserPosts = resolve))
    await tab.evaluate(fillInAndSubmit)
    return others(await body)
  }

  async function postedByUs(): Promise<[string, string][]> {
    service.requests.length = 0
    service.answer({ loginPage: html(shown) })
    await createSso({ authUrl: service.authUrl }).login({ identity, credential })
    return others(service.requests.find(({ method }) => method === 'POST')?.body ?? '')
  }

  it.each(pages)('%s', async (_, page) => {
    shown = `<!doctype html><title>Sign in</title>${page}`
    const posted = await postedByUs()
    expect(posted).toEqual(await postedByBrowser())
  })
})
