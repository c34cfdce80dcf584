import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import chromium from '@sparticuz/chromium'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
  chromium as playwright,
} from 'playwright-core'
import { afterAll } from 'vitest'

/** Not for tests: one process, in which closing a page ends the browser, and no origins. */
const UNWANTED = /^--(?:single-process|disable-web-security|disable-site-isolation-trials)/

/** Where screenshots go; nothing of it is kept by git. */
const SCREENSHOTS = join(import.meta.dirname, '..', '..', '..', '.skein', 'screenshots')

/** Call it at the top of a test file: the browser is closed after the file's last test. */
export async function startBrowser(): Promise<Browser> {
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: chromium.args.filter((arg) => !UNWANTED.test(arg)),
    headless: true,
  })
  afterAll(() => browser.close())
  return browser
}

/** A page, and what went wrong on it. */
export interface Visit extends AsyncDisposable {
  readonly page: Page
  /** Errors and warnings of the console, exceptions, and requests that failed or went elsewhere. */
  readonly faults: readonly string[]
}

/** @param origin that all requests must go to */
export async function visit(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context: BrowserContext = await browser.newContext({ baseURL: origin, ...options })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`))
  page.on('requestfailed', (request) => faults.push(`failed: ${request.url()}`))
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) faults.push(`elsewhere: ${request.url()}`)
  })
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return { page, faults, [Symbol.asyncDispose]: () => context.close() }
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** What axe finds against WCAG A and AA: the rule, and where. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // By the protocol, past the page's own policy.
  await page.evaluate(await axeSource())
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: Axe }
    const { violations } = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
    )
  })
}

interface Axe {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>
}

let source: Promise<string> | null = null

function axeSource(): Promise<string> {
  source ??= import('node:fs/promises').then(({ readFile }) => readFile(AXE, 'utf8'))
  return source
}

/** Takes a picture of the whole page, for people to look at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  await saveScreenshot(await page.screenshot({ fullPage: true }), name)
}

/** @param png a picture, for people to look at */
export async function saveScreenshot(png: Uint8Array, name: string): Promise<void> {
  await mkdir(SCREENSHOTS, { recursive: true })
  await writeFile(join(SCREENSHOTS, `${name}.png`), png)
}
