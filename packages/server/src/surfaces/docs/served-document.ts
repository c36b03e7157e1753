import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bestCoding, type Coding } from '../accept-encoding.ts'

type Served = {
  readonly base: string
  readonly document: object
  readonly etag: string
  readonly plain: Buffer
  readonly packed: Promise<ReadonlyMap<Coding, Buffer>>
}

/** The OpenAPI document, built once for the address where the server is reached. */
export class ServedDocument {
  readonly #build: (base: string) => object
  #served: Served | undefined

  constructor(build: (base: string) => object) {
    this.#build = build
  }

  at(base: string): Served {
    if (this.#served?.base === base) return this.#served
    const document = this.#build(base)
    const plain = Buffer.from(JSON.stringify(document))
    const etag = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
    this.#served = { base, document, etag, plain, packed: pack(plain) }
    return this.#served
  }
}

/** Runs on zlib's threads, so that it does not block the event loop. */
async function pack(plain: Buffer): Promise<ReadonlyMap<Coding, Buffer>> {
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    promisify(gzip)(plain),
  ])
  return new Map<Coding, Buffer>([
    ['br', br],
    ['gzip', gz],
  ])
}

/** `GET /openapi.json`: no request builds or compresses it again, and a client that already has it gets 304. */
export function mountDocument(fastify: FastifyInstance, served: () => Served): void {
  fastify.get('/openapi.json', async (request, reply) => send({ request, reply }, served()))
}

async function send({ request, reply }: { request: FastifyRequest; reply: FastifyReply }, served: Served) {
  const packed = await served.packed
  const coding = bestCoding(request.headers['accept-encoding'] ?? '', packed)
  // Each coding has different bytes, so a strong tag names it.
  const etag = `"${served.etag}${coding === undefined ? '' : `-${coding}`}"`
  reply.headers({ ETag: etag, Vary: 'Accept-Encoding', 'Cache-Control': 'no-cache' })
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (coding !== undefined) reply.header('Content-Encoding', coding)
  return reply.type('application/json; charset=utf-8').send(coding === undefined ? served.plain : packed.get(coding))
}

/** A proxy may have turned the tag into a weak one. */
function matches(sent: string | undefined, etag: string): boolean {
  const tags = sent?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes('*') || tags.includes(etag)
}
