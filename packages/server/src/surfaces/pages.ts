import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { pageHeaders } from './page-headers.ts'

const ASSETS = new URL('../../assets/', import.meta.url)
const HTML = 'text/html; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const FONT = 'font/woff2'

/** The pages beside the console: signing in, invites, one's own account, in the console's font and colours. They call the admin API like anyone. */
const FILES = {
  '/sign-in': { file: 'sign-in.html', type: HTML },
  '/sign-in/link': { file: 'sign-in-link.html', type: HTML },
  '/sign-in/reset': { file: 'sign-in-reset.html', type: HTML },
  '/sign-in/email': { file: 'sign-in-email.html', type: HTML },
  '/invites/accept': { file: 'invite.html', type: HTML },
  '/account': { file: 'account.html', type: HTML },
  '/assets/hanken-grotesk.woff2': { file: import.meta.resolve('@fontsource-variable/hanken-grotesk/files/hanken-grotesk-latin-wght-normal.woff2'), type: FONT },
  '/assets/theme.js': { file: 'theme.js', type: SCRIPT },
  '/assets/base.css': { file: 'base.css', type: CSS },
  '/assets/sign-in.css': { file: 'sign-in.css', type: CSS },
  '/assets/api.js': { file: 'api.js', type: SCRIPT },
  '/assets/sign-in.js': { file: 'sign-in.js', type: SCRIPT },
  '/assets/sign-in-link.js': { file: 'sign-in-link.js', type: SCRIPT },
  '/assets/sign-in-reset.js': { file: 'sign-in-reset.js', type: SCRIPT },
  '/assets/sign-in-email.js': { file: 'sign-in-email.js', type: SCRIPT },
  '/assets/invite.js': { file: 'invite.js', type: SCRIPT },
  '/assets/account.js': { file: 'account.js', type: SCRIPT },
  '/assets/reference.css': { file: 'reference.css', type: CSS },
  '/assets/reference.js': { file: 'reference.js', type: SCRIPT },
} as const

export function mountPages(fastify: FastifyInstance): void {
  for (const [url, { file, type }] of Object.entries(FILES)) {
    const content = readFileSync(new URL(file, ASSETS))
    // A font never changes what it looks like; all else may with the next version of the server.
    const headers = type === FONT ? { ...pageHeaders(type), 'Cache-Control': 'public, max-age=604800' } : pageHeaders(type)
    fastify.get(url, (_request, reply) => reply.headers(headers).send(content))
  }
}
