import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createConnection, type Connection } from 'mysql2/promise'

/** A MariaDB server of the test, from the package mariadb-server of Debian, in a temporary folder. */
export type MariaDb = {
  readonly port: number
  /** Runs a statement as the owner of the database `shop`. */
  run(statement: string): Promise<void>
  stop(): Promise<void>
}

const SERVERS = ['/usr/sbin/mariadbd', '/usr/libexec/mariadbd', '/usr/local/sbin/mariadbd']
const BOOT_TRIES = 300

/** The path of the server; undefined: it is not installed, so its tests are skipped. */
export const mariaDbServer = (): string | undefined => SERVERS.find((path) => existsSync(path))

export async function aMariaDb(server: string): Promise<MariaDb> {
  const folder = mkdtempSync(join(tmpdir(), 'postroad-mariadb-'))
  const [data, socket] = [join(folder, 'data'), join(folder, 'socket')]
  const user = `--user=${userInfo().username}`
  execFileSync('mariadb-install-db', ['--no-defaults', user, `--datadir=${data}`, '--skip-test-db'], { stdio: 'pipe' })
  const port = await aFreePort()
  const child = spawn(
    server,
    ['--no-defaults', user, `--datadir=${data}`, `--socket=${socket}`, `--port=${port}`, '--bind-address=127.0.0.1'],
    { stdio: 'ignore' },
  )
  const owner = await entered(socket)
  await owner.query('create database shop')
  await owner.query("create user 'reader'@'%' identified by 'reader-password'")
  await owner.query("grant select on shop.* to 'reader'@'%'")
  await owner.query('use shop')
  return {
    port,
    run: async (statement) => void (await owner.query(statement)),
    stop: async () => {
      await owner.end()
      await ended(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function entered(socketPath: string): Promise<Connection> {
  for (let tries = BOOT_TRIES; ; tries -= 1) {
    try {
      return await createConnection({ socketPath, user: userInfo().username })
    } catch (error) {
      if (tries === 0) throw error
      await sleep(50)
    }
  }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })
}

function aFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
