/** The ceiling of ingest: Node's own HTTP server, which only parses the body and answers 201. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answer } from './child.ts'

export type BareHttpVerbs = { listen(input: null): Promise<number> }

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const payload: unknown = JSON.parse(Buffer.concat(chunks).toString())
    const json = JSON.stringify({ status: payload === null ? 'empty' : 'accepted' })
    response.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(json) })
    response.end(json)
  })
})

function listen(): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
      resolve((server.address() as AddressInfo).port)
    })
  })
}

answer({ listen } satisfies BareHttpVerbs)
