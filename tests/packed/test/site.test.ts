/** The site, as `npm run docs` makes it: every page, every link, the API reference, the search, a phone. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Browser, describeInChromium, launchChromium } from '../../support/chromium.ts'
import { codeBlocksOf, documents, readDocument } from '../../support/code-blocks.ts'
import { freePort } from '../../support/free-port.ts'
import { programOf } from '../../support/program.ts'
import { entries } from '../../support/published.ts'
import { runInProject } from './empty-project.ts'

/** Run where the packages are installed, with the compiler of there: what it takes for the public names of the modules. */
const publicNames = `
  const ts = require('typescript')
  const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }
  const fileOf = (entry) => ts.resolveModuleName(entry, process.cwd() + '/x.mts', options, ts.sys, undefined, undefined,
    ts.ModuleKind.ESNext).resolvedModule.resolvedFileName
  const entries = process.argv.slice(1)
  const program = ts.createProgram(entries.map(fileOf), options)
  const checker = program.getTypeChecker()
  const names = entries.flatMap((entry) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(fileOf(entry)))
    return checker.getExportsOfModule(module).map((name) => {
      const symbol = name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name
      const comment = ts.displayPartsToString(symbol.getDocumentationComment(checker))
      return { entry, name: name.name, declaredAs: symbol.name, comment }
    })
  })
  console.log(JSON.stringify(names))`

const site = fileURLToPath(new URL('../../../tools/site/dist/site', import.meta.url))
const files = readdirSync(site, { recursive: true, encoding: 'utf8' })
const pages = files.filter((file) => file.endsWith('.html') && file !== '404.html')
const texts = new Map(pages.map((page) => [page, readFileSync(join(site, page), 'utf8')]))

it('shows every document, and each code block of it', () => {
  const shown = wordsIn([...texts.values()].map(textOf).join(' '))
  const missing = documents.flatMap((document) => {
    const lines = codeBlocksOf(document).flatMap(({ code, line }) => (shown.includes(wordsIn(code)) ? [] : [line]))
    const [, title = ''] = /^# (.+)$/mu.exec(readDocument(document)) ?? []
    return shown.includes(wordsIn(title)) ? lines.map((line) => `${document}:${line}`) : [document]
  })
  expect(missing.filter((document) => !notPages.some((name) => document.startsWith(name)))).toEqual([])
})

/** For those who work on the repository, and of no use without it. */
const notPages = ['.changeset/', 'internal/', 'tools/site/front-page.md']

it('has no link that leads nowhere, and fetches nothing from anywhere else', () => {
  const anchors = new Map([...texts].map(([page, text]) => [page, new Set(idsIn(text))]))
  const problems = pages.flatMap((page) => {
    const text = texts.get(page) ?? ''
    const links = [...text.matchAll(/<a\b[^>]*? href="([^"]*)"/gu)].map(([, target = '']) => decodeURI(target))
    const broken = links.filter((link) => {
      if (/^(?:https?|mailto):/u.test(link)) return false
      const { pathname, hash } = new URL(link, `http://site/${page}`)
      const [target, anchor] = [pageAt(decodeURI(pathname)), decodeURI(hash.slice(1))]
      return target === undefined || (anchor !== '' && anchors.get(target)?.has(anchor) !== true)
    })
    const fetched = [...text.matchAll(/<(?:img|script|link|source)\b[^>]*? (?:src|href)="([^"]*)"/gu)]
      .map(([, address = '']) => address)
      .filter((address) => !address.startsWith('data:') && !existsSync(join(site, address)))
    return [...broken, ...fetched].map((what) => `${page}: ${what}`)
  })
  expect(pages.length).toBeGreaterThan(50)
  expect(problems).toEqual([])
})

it('has each page as plain Markdown too, and all of them in llms.txt', () => {
  const named = [...readFileSync(join(site, 'llms.txt'), 'utf8').matchAll(/\]\(([^)]+)\)/gu)].map(
    ([, file = '']) => file,
  )
  expect(named.toSorted()).toEqual(pages.map((page) => page.replace('.html', '.md')).toSorted())
  for (const name of named) expect(readFileSync(join(site, name), 'utf8')).toMatch(/^# /mu)
})

it('is served to this machine alone', async () => {
  const port = await freePort()
  const serve = fileURLToPath(new URL('../../../tools/site/serve.mjs', import.meta.url))
  const child = spawn(process.execPath, [serve, '--open'], { env: { ...process.env, PORT: String(port) } })
  try {
    const { prints } = programOf(child)
    const [url = ''] = await prints(/http:\/\/127\.0\.0\.1:\d+\//u)
    expect((await fetch(url)).status).toBe(200)
    // Another address of the machine, which needs no network.
    await expect(fetch(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow('fetch failed')
  } finally {
    child.kill('SIGKILL')
  }
})

describe('the API reference', () => {
  let names: readonly PublicName[] = []
  beforeAll(async () => {
    const compiler = ['--input-type=commonjs', '-e', publicNames, ...entries]
    names = JSON.parse(await runInProject(process.execPath, compiler))
  }, 60_000)

  it.each(entries)('has each name of %s, with its doc comment', (entry) => {
    const ours = names.filter((name) => name.entry === entry)
    expect(ours.length).toBeGreaterThan(0)
    // What another of our packages declares stands there.
    const without = ours.filter(({ declaredAs, comment }) => {
      const isThere = new RegExp(`^### (?:abstract )?(?:~~)?${declaredAs}(?:\\W|$)`, 'mu')
      const places = [entry, ...entries].map((module) => readFileSync(join(site, 'api', `${module}.md`), 'utf8'))
      return (
        !/\w/u.test(comment) ||
        !places.some((text) => isThere.test(text) && wordsIn(text).includes(firstWords(comment)))
      )
    })
    expect(without.map(({ name }) => name)).toEqual([])
  })

  it('opens with createSso: on its front page, and on the page of core; errors, and what adapters share, come last', () => {
    const namesOn = (module: string): string[] =>
      [...readFileSync(join(site, 'api', `${module}.md`), 'utf8').matchAll(/^### (?:abstract )?(\w+)/gmu)].map(
        ([, name = '']) => name,
      )
    expect(readFileSync(join(site, 'api/index.md'), 'utf8')).toMatch(/^[^[]*\[createSso\]/u)
    expect(namesOn('@owner-sso/core').slice(0, 2)).toEqual(['createSso', 'isCallback'])
    const onManager = namesOn('@owner-sso/token-manager')
    const errors = onManager.filter((name) => name.endsWith('Error'))
    expect(errors.length).toBeGreaterThan(10)
    const first = onManager.indexOf(errors[0] ?? '')
    expect(onManager.slice(first, first + errors.length)).toEqual(errors)
    expect(first).toBeGreaterThan(onManager.indexOf('TokenManager'))
    expect(namesOn('@owner-sso/passport')[0]).toBe('OwnerSsoStrategy')
    // What only packages of ours call stands behind all that applications do.
    const onCore = namesOn('@owner-sso/core')
    expect(onCore.indexOf('visible')).toBeGreaterThan(onCore.indexOf('createTokenManager'))
  })
})

describeInChromium('in a browser', () => {
  let browser: Browser
  let server: Server
  let origin = ''
  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = decodeURI(new URL(request.url ?? '/', 'http://site').pathname)
      const file = pageAt(path) ?? relative('/', path)
      const isThere = files.includes(file)
      response.writeHead(isThere ? 200 : 404, {
        'content-type': types[extname(file)] ?? 'application/octet-stream',
        'cache-control': 'max-age=600',
      })
      response.end(isThere ? readFileSync(join(site, file)) : '')
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await launchChromium()
  }, 60_000)
  afterAll(async () => {
    await browser.close()
    server.closeAllConnections()
    server.close()
  })

  it('finds what to do about a captcha, and leads there', async () => {
    const page = await browser.newPage()
    await page.goto(origin)
    await page.waitForFunction("'__vue_app__' in document.querySelector('#app')")
    await page.keyboard.press('Control+k')
    await page.getByRole('searchbox').fill('captcha')
    await page.locator('.result').first().waitFor()
    expect(await page.locator('.result').allTextContents()).toContainEqual(expect.stringMatching(/captcha/iu))
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname !== '/')
    expect(await page.locator('main').textContent()).toMatch(/captcha/iu)
    await page.close()
  }, 60_000)

  it('has the page that answers a question among the first three that the search finds', async () => {
    const page = await browser.newPage()
    await page.goto(origin)
    await page.waitForFunction("'__vue_app__' in document.querySelector('#app')")
    await page.keyboard.press('Control+k')
    const without: string[] = []
    for (const [question, answer] of questions) {
      await page.getByRole('searchbox').fill(question)
      const found = `[...document.querySelectorAll('.result')].slice(0, 3).some(({ href }) => href.includes('${answer}'))`
      await page.waitForFunction(found, undefined, { timeout: 10_000 }).catch(() => without.push(question))
    }
    await page.close()
    expect(without).toEqual([])
  }, 180_000)

  it('names the version, and is dark where the reader wants it so', async () => {
    const { version } = JSON.parse(readFileSync(join(site, '../../../../packages/core/package.json'), 'utf8'))
    const colours = ['light', 'dark'] as const
    const grounds = await Promise.all(
      colours.map(async (colorScheme) => {
        const page = await browser.newPage({ colorScheme })
        await page.goto(`${origin}/guides/faq`)
        expect(await page.getByRole('banner').textContent()).toContain(version)
        const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
        await page.close()
        return ground
      }),
    )
    expect(grounds).toEqual(['rgb(255, 255, 255)', 'rgb(27, 27, 31)'])
  }, 60_000)

  it('cuts no code of usual width at 1280 px, and breaks no name in the first column of a table', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false })
    const problems: string[] = []
    for (const name of pages.filter((each) => /^(?:guides|reference|packages)\//u.test(each))) {
      await page.goto(`${origin}/${name}`, { waitUntil: 'load' })
      const found: string[] = await page.evaluate(cutOrBroken)
      problems.push(...found.map((what) => `${name}: ${what}`))
    }
    await page.close()
    expect(problems).toEqual([])
  }, 120_000)

  it('fits a phone, every page', async () => {
    // Without its program, a page is what it will be, and there at once.
    const page = await browser.newPage({ viewport: { width: 390, height: 844 }, javaScriptEnabled: false })
    const wide: string[] = []
    for (const name of pages) {
      await page.goto(`${origin}/${name}`, { waitUntil: 'load' })
      const width = await page.locator('html').evaluate((html) => html.scrollWidth)
      if (width > 390) wide.push(`${name}: ${width}`)
    }
    await page.close()
    expect(wide).toEqual([])
  }, 120_000)
})

/** Code that is cut on a page, and what stands in the first column of a table and is broken. */
const cutOrBroken = `[
  ...[...document.querySelectorAll('.vp-doc pre')].filter((block) => block.scrollWidth > block.clientWidth)
    .map((block) => block.textContent.trim().split('\\n')).filter((lines) => lines.every((line) => line.length <= 120)),
  ...[...document.querySelectorAll('.vp-doc td:first-child code')].filter((code) => code.getClientRects().length > 1)
    .map((code) => code.textContent),
].map(String)`

/** What people ask, and the page that answers. */
const questions = [
  ['refresh fails in a cluster', '/guides/many-instances#node-clusters-and-pm2'],
  ['Docker', '/guides/docker'],
  ['Next.js', '/guides/frameworks#nextjs-and-hono'],
  ['Hono', '/guides/frameworks#nextjs-and-hono'],
  ['OpenTelemetry', '/guides/logs-metrics-traces'],
  ['metrics', '/guides/logs-metrics-traces'],
  ['logging', '/guides/logs-metrics-traces'],
  ['firewall 403', '/guides/when-the-firewall-blocks-you'],
  ['captcha', '/guides/command-line#when-the-service-shows-a-captcha'],
  ['MFA backup code', '/guides/second-factor#a-backup-code'],
  ['kubernetes', '/guides/docker#in-kubernetes'],
  ['lambda', '/guides/serverless'],
  ['changelog', '/guides/faq#where-is-the-changelog'],
  ['alternatives', '/guides/faq#what-are-the-alternatives'],
  ['any OAuth provider', '/guides/faq#does-it-work-with-any-oauth-provider'],
  ['change the redirect uri', '/guides/faq#how-do-i-change-the-redirect-uri'],
  ['sign out', '/guides/faq#how-do-i-sign-somebody-out-logout'],
  ['logout', '/guides/faq#how-do-i-sign-somebody-out-logout'],
  ['how long does a token live', '/guides/faq#how-long-does-a-token-live'],
  ['cron', '/guides/unattended-scripts'],
  ['aws', '/guides/serverless'],
  ['wrong password', '/guides/faq#why-does-it-say-wrong-password'],
  ['load balancer', '/guides/many-instances'],
] as const

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** The file of the page at a path; undefined where there is none. */
function pageAt(path: string): string | undefined {
  const file = relative('/', resolve('/', path))
  const ends = ['', '.html', 'index.html', '/index.html']
  return ends.map((end) => file + end).find((each) => texts.has(each))
}

function idsIn(text: string): string[] {
  return [...text.matchAll(/ id="([^"]+)"/gu)].map(([, id = '']) => decodeURI(id))
}

function textOf(html: string): string {
  return html.replaceAll(/<[^>]+>/gu, '').replaceAll(/&(?:#x([0-9a-f]+)|#(\d+)|\w+);/giu, ' ')
}

/** Letters and digits alone. */
function wordsIn(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]+/gu, '')
}

/** So much of a doc comment as has no markup in it. */
function firstWords(comment: string): string {
  return wordsIn((/^[^`{<&[*]+/u.exec(comment)?.[0] ?? '').slice(0, 60))
}

interface PublicName {
  readonly entry: string
  readonly name: string
  readonly declaredAs: string
  readonly comment: string
}
