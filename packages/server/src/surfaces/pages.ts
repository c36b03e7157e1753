import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { html } from './html.ts'
import { pageHeaders } from './page-headers.ts'
import { ASSETS, bodyIn, framed } from './page.ts'

const HTML = 'text/html; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const FONT = 'font/woff2'

const ACCOUNT_HEADER = html`
      <nav class="end" aria-label="Account"><a href="/">Home</a> <button type="button" id="sign-out">Sign out</button></nav>`

/** The pages besides the console: sign-in, invites and accounts. They call the admin API as any client does. Body and script have the same name. */
const PAGES = {
  '/sign-in': { name: 'sign-in', title: 'Sign in' },
  '/sign-in/link': { name: 'sign-in-link', title: 'Sign in with a link' },
  '/sign-in/reset': { name: 'sign-in-reset', title: 'Set a new password' },
  '/sign-in/email': { name: 'sign-in-email', title: 'Confirm your email address' },
  '/invites/accept': { name: 'invite', title: 'Your invite' },
  '/account/claim': { name: 'claim', title: 'Claim an account' },
  '/account': { name: 'account', title: 'Account', header: ACCOUNT_HEADER },
} as const

/** The files that these pages and the documentation load. */
const FILES = {
  '/assets/hanken-grotesk.woff2': {
    file: import.meta.resolve('@fontsource-variable/hanken-grotesk/files/hanken-grotesk-latin-wght-normal.woff2'),
    type: FONT,
  },
  '/assets/theme.js': { file: 'theme.js', type: SCRIPT },
  '/assets/base.css': { file: 'base.css', type: CSS },
  '/assets/sign-in.css': { file: 'sign-in.css', type: CSS },
  '/assets/api.js': { file: 'api.js', type: SCRIPT },
  '/assets/sign-in.js': { file: 'sign-in.js', type: SCRIPT },
  '/assets/sign-in-link.js': { file: 'sign-in-link.js', type: SCRIPT },
  '/assets/sign-in-reset.js': { file: 'sign-in-reset.js', type: SCRIPT },
  '/assets/sign-in-email.js': { file: 'sign-in-email.js', type: SCRIPT },
  '/assets/invite.js': { file: 'invite.js', type: SCRIPT },
  '/assets/claim.js': { file: 'claim.js', type: SCRIPT },
  '/assets/choice.js': { file: 'choice.js', type: SCRIPT },
  '/assets/consent.js': { file: 'consent.js', type: SCRIPT },
  '/assets/device.js': { file: 'device.js', type: SCRIPT },
  '/assets/account.js': { file: 'account.js', type: SCRIPT },
  '/assets/docs.css': { file: 'docs.css', type: CSS },
  '/assets/docs.js': { file: 'docs.js', type: SCRIPT },
  '/assets/reference.js': { file: 'reference.js', type: SCRIPT },
} as const

export function mountPages(fastify: FastifyInstance): void {
  for (const [url, { name, title, ...more }] of Object.entries(PAGES)) {
    const page = framed({
      title: `${title} · Postroad`,
      style: 'sign-in',
      script: name,
      main: bodyIn(`${name}.html`),
      ...more,
    })
    fastify.get(url, (_request, reply) => reply.headers(pageHeaders(HTML)).send(page))
  }
  for (const [url, { file, type }] of Object.entries(FILES)) {
    const content = readFileSync(new URL(file, ASSETS))
    // A font never changes. Everything else may change with the next version of the server.
    const headers =
      type === FONT ? { ...pageHeaders(type), 'Cache-Control': 'public, max-age=604800' } : pageHeaders(type)
    fastify.get(url, (_request, reply) => reply.headers(headers).send(content))
  }
}
