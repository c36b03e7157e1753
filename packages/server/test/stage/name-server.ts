import { createSocket } from 'node:dgram'
import type { TestContext } from 'node:test'
import { questionIn, replyTo, type DnsReply } from '../../chaos/dns-wire.ts'

export type Answer = DnsReply | 'silence'
type Asked = { name: string; family: 4 | 6; nth: number }

/** A name server on loopback that answers as the test configures it, and the names that it was asked for. */
export async function aNameServer(t: TestContext, answer: (asked: Asked) => Answer) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const question = questionIn(query)
    const { name, family } = question
    asked.push(`${name} ${family}`)
    const said = answer({ name, family, nth: asked.filter((one) => one === `${name} ${family}`).length })
    if (said !== 'silence') socket.send(replyTo(question, said), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  t.after(() => socket.close())
  return { servers: [`127.0.0.1:${socket.address().port}`], asked }
}
