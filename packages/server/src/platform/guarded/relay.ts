import { createServer, type AddressInfo } from 'node:net'
import type { GuardedSocket } from './guarded-socket.ts'

/**
 * A port of this machine for a driver that must dial by itself. The first connection to it is the guarded one, and there is no
 * second. It ends with the guarded one.
 */
export async function openRelay(guarded: GuardedSocket): Promise<{ readonly host: string; readonly port: number }> {
  const server = createServer({ noDelay: true }, (local) => {
    server.close()
    local.on('error', () => undefined)
    local.on('close', () => guarded.destroy())
    guarded.on('close', () => local.destroy())
    if (guarded.destroyed) local.destroy()
    local.pipe(guarded).pipe(local)
  })
  server.maxConnections = 1
  guarded.on('error', () => undefined)
  guarded.once('close', () => server.close())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  if (guarded.destroyed) server.close()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on TCP
  const { port } = server.address() as AddressInfo
  return { host: '127.0.0.1', port }
}
