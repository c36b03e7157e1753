import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply } from 'fastify'

const ASSETS = new URL('../../assets/', import.meta.url)

const FILES = {
  '/': { file: 'first-run.html', type: 'text/html; charset=utf-8' },
  '/assets/first-run.css': { file: 'first-run.css', type: 'text/css; charset=utf-8' },
  '/assets/first-run.js': { file: 'first-run.js', type: 'text/javascript; charset=utf-8' },
} as const

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The page behind the printed link: send a first event and watch it arrive and be delivered. */
export function mountFirstRun(fastify: FastifyInstance): void {
  for (const [url, { file, type }] of Object.entries(FILES)) {
    const content = readFileSync(new URL(file, ASSETS))
    fastify.get(url, (_request, reply: FastifyReply) =>
      reply
        .type(type)
        .headers({
          'Content-Security-Policy': POLICY,
          'X-Content-Type-Options': 'nosniff',
          'Referrer-Policy': 'no-referrer',
          'Cache-Control': 'no-cache',
        })
        .send(content),
    )
  }
}
