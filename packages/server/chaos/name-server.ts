import { createSocket } from 'node:dgram'
import { NXDOMAIN, questionIn, replyTo, type DnsReply, type Question } from './dns-wire.ts'

/**
 * `silent`: it does not answer a query until its conduct changes, like a hanging name server. `unknown`: the name does not
 * exist.
 */
export type NameConduct = 'answers' | 'silent' | 'unknown'

export type NameServer = {
  /** In the form for a resolver: `address:port`. */
  readonly address: string
  /** Sets its answer for this name from now on. All other names are 127.0.0.1. */
  conduct(name: string, conduct: NameConduct): void
  stop(): Promise<void>
}

/** A name server on loopback: each name is 127.0.0.1 with a TTL of zero, so that every lookup reaches it. */
export async function openNameServer(): Promise<NameServer> {
  const conducts = new Map<string, NameConduct>()
  const held = new Map<string, (() => void)[]>()
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const question = questionIn(query)
    const answer = (): void =>
      socket.send(replyTo(question, answerOf(question, conducts.get(question.name))), from.port, from.address)
    if (conducts.get(question.name) === 'silent') held.set(question.name, [...(held.get(question.name) ?? []), answer])
    else answer()
  })
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve)
  })
  return {
    address: `127.0.0.1:${socket.address().port}`,
    conduct: (name, conduct) => {
      conducts.set(name, conduct)
      if (conduct === 'silent') return
      for (const answer of held.get(name) ?? []) answer()
      held.delete(name)
    },
    stop: () =>
      new Promise((resolve) => {
        socket.close(resolve)
      }),
  }
}

function answerOf({ family }: Question, conduct: NameConduct | undefined): DnsReply {
  if (conduct === 'unknown') return { rcode: NXDOMAIN }
  return { ttl: 0, addresses: family === 4 ? ['127.0.0.1'] : [] }
}
