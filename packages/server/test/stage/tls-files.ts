import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Pair = { readonly key: string; readonly cert: string }
type Made = {
  readonly days?: number
  /** The host that the certificate names. */
  readonly host?: string
}

/** A certificate authority for the test, and certificates that it signs. */
export type Authority = Pair & { readonly sign: (name: string, made?: Made) => Pair }

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

type Run = (...words: readonly string[]) => void

function inFolder(work: (run: Run, read: (file: string) => string, folder: string) => Pair): Pair {
  const folder = mkdtempSync(join(tmpdir(), 'postroad-tls-'))
  try {
    return work(
      (...words) => void execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' }),
      (file) => readFileSync(join(folder, file), 'utf8'),
      folder,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export function anAuthority(): Authority {
  const ca = inFolder((run, read) => {
    run('req', '-x509', ...NEW_KEY, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=Test Authority', '-days', '2')
    return { key: read('ca.key'), cert: read('ca.crt') }
  })
  return {
    ...ca,
    sign: (name, { days = 2, host = 'localhost' } = {}) =>
      inFolder((run, read, folder) => {
        writeFileSync(join(folder, 'ca.key'), ca.key)
        writeFileSync(join(folder, 'ca.crt'), ca.cert)
        run(
          'req',
          ...NEW_KEY,
          '-keyout',
          'own.key',
          '-out',
          'own.csr',
          '-subj',
          `/CN=${name}`,
          '-addext',
          `subjectAltName=DNS:${host}`,
        )
        run(
          'x509',
          '-req',
          '-in',
          'own.csr',
          '-out',
          'own.crt',
          '-days',
          String(days),
          '-CA',
          'ca.crt',
          '-CAkey',
          'ca.key',
          '-CAcreateserial',
          '-copy_extensions',
          'copy',
        )
        return { key: read('own.key'), cert: read('own.crt') }
      }),
  }
}
