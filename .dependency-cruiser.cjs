const S = '^packages/server/src'
const TESTS = '\\.test\\.tsx?$'
/** The files of the delivery machine, which makes decisions and has no effects. */
const CORE =
  'machine|machine-state|attempts|turns|lane|lane-notes|leases|sharing|reads|settle|store-health|judge|fifo|min-heap|ready-lanes|workspaces|ports|limits|crash-points'
const never = (name, from, to, comment) => ({ name, severity: 'error', comment, from, to })

module.exports = {
  forbidden: [
    never('no-cycles', {}, { circular: true }, 'Imports go one way.'),
    never(
      'contract-knows-nobody',
      { path: '^packages/contract/', pathNot: TESTS },
      { path: '.', pathNot: ['^packages/(contract|verify)/', '^node_modules/zod/'] },
      'The contract cannot depend on its users.',
    ),
    never(
      'verify-knows-nobody',
      { path: '^packages/verify/src/', pathNot: [TESTS, '/(crypto-node|presets)\\.ts$'] },
      { path: '.', pathNot: '^packages/verify/src/' },
      'The verifier runs anywhere and installs alone. One file knows Node, and one reads the presets.',
    ),
    never(
      'contract-parts-without-schemas',
      {
        path: '^packages/contract/src/(csv|dot-path|filter|holds|json-start|lights|quoting|raw-number|replay-outcome|schemes)\\.ts$',
      },
      { path: '^node_modules/zod/', reachable: true },
      'The console loads these, and its Content-Security-Policy refuses the code that zod evaluates.',
    ),
    never(
      'sdk-knows-contract-only',
      { path: '^packages/sdk/src/', pathNot: TESTS },
      { path: '.', pathNot: '^packages/(sdk/src|contract)/' },
      'A client runs anywhere and installs without the server.',
    ),
    never(
      'one-file-of-the-sdk-knows-the-contract',
      { path: '^packages/sdk/src/', pathNot: [TESTS, '^packages/sdk/src/contract\\.ts$'] },
      { path: '^packages/contract/' },
      'The published package has a generated file in its place.',
    ),
    never(
      'clients-never-import-server',
      { path: '^packages/(console|cli)/', pathNot: '^packages/(console|cli)/test/' },
      { path: '^packages/server/' },
      'Console and CLI speak HTTP like everyone else; both are tested on the real server.',
    ),
    never(
      'console-and-cli-are-strangers',
      { path: '^packages/(console|cli)/' },
      { path: '^packages/(console|cli)/', pathNot: '^packages/$1/' },
      'Share through sdk or contract.',
    ),
    never(
      'ui-knows-no-data',
      { path: '^packages/console/src/ui/' },
      { path: '^packages/console/src/(?!ui/)' },
      'Shared pieces know no resource.',
    ),
    never(
      'console-data-knows-no-screen',
      { path: '^packages/console/src/data/' },
      { path: '^packages/console/src/(shell|parts|screens|routes|main)' },
      'Requests to the server do not depend on the screens that show their answers.',
    ),
    never(
      'shell-knows-no-screen',
      { path: '^packages/console/src/shell/' },
      { path: '^packages/console/src/(parts|screens|routes|main)' },
      'Screens are named in one list.',
    ),
    never(
      'parts-know-no-screen',
      { path: '^packages/console/src/parts/' },
      { path: '^packages/console/src/(screens|routes|main)' },
      'Shared parts of screens do not depend on the screens.',
    ),
    never(
      'screens-are-strangers',
      { path: '^packages/console/src/screens/(home|[^/]+/[^/]+)/' },
      { path: '^packages/console/src/screens/(home|[^/]+/[^/]+)/', pathNot: '^packages/console/src/screens/$1/' },
      'Code that two screens share is in ui or data.',
    ),
    never(
      'portal-is-a-separate-page',
      { path: '^packages/console/src/portal/' },
      { path: '^packages/console/src/(?!portal/|ui/)' },
      'The page of the customer portals is small, and knows nothing of the console.',
    ),
    never(
      'console-knows-no-portal-page',
      { path: '^packages/console/src/(?!portal/)' },
      { path: '^packages/console/src/(portal|embed)/' },
      'The console shows the page of a portal in a frame. Code that both use is in ui.',
    ),
    never(
      'embed-is-one-file',
      { path: '^packages/console/src/embed/' },
      { path: '.' },
      'Pages of other products load it with one request.',
    ),

    never(
      'domain-is-pure',
      { path: `${S}/domain/`, pathNot: TESTS },
      {
        path: '.',
        pathNot: [
          `${S}/domain/`,
          '^packages/(contract|verify)/',
          '^(node:)?(buffer|crypto|util|zlib)$',
          '^node_modules/(@eslint-community/regexpp|@fastify/busboy|croner|ipaddr\\.js|liquidjs|sax|tldts|zod)/',
        ],
      },
      'Facts do not read clocks, files, sockets or databases.',
    ),
    never(
      'tasks-are-pure',
      { path: `${S}/tasks/`, pathNot: [TESTS, `${S}/tasks/index\\.ts$`] },
      {
        path: '.',
        pathNot: [
          `${S}/(tasks|domain)/`,
          `${S}/platform/(heavy/[^/]+|sandbox/[^/]+|inflate|parquet)\\.ts$`,
          `${S}/resources/(check-conditions|input-sentence)\\.ts$`,
          '^packages/contract/',
          '^(node:)?(buffer|crypto)$',
          '^node_modules/zod/',
        ],
      },
      'A thread runs tasks. They read no database, no socket and no clock.',
    ),
    never(
      'one-file-lists-the-tasks',
      { path: `${S}/`, pathNot: [TESTS, `${S}/tasks/thread\\.ts$`] },
      { path: `${S}/tasks/index\\.ts$` },
      'Only threads load all tasks.',
    ),
    never(
      'platform-is-ground',
      { path: `${S}/platform/` },
      { path: `${S}/(?!platform/)` },
      'The platform does not depend on the floors above it.',
    ),
    never(
      'rooms-look-down',
      { path: `${S}/resources/` },
      { path: `${S}/(pipeline|workers|surfaces|app|main|config|boot|storage|commands)` },
      'A room never starts the road or answers a protocol.',
    ),
    never(
      'rooms-have-two-doors',
      { path: `${S}/resources/([^/]+/[^/]+)/` },
      { path: `${S}/resources/[^/]+/[^/]+/`, pathNot: [`${S}/resources/$1/`, '/index\\.ts$'] },
      'Rooms call each other through index.ts.',
    ),
    never(
      'road-uses-doors',
      { path: `${S}/(pipeline|workers)/` },
      { path: `${S}/resources/[^/]+/[^/]+/`, pathNot: '/(queries|index)\\.ts$' },
      'Pipeline and workers use the two doors of a room: its verbs and its statements.',
    ),
    never(
      'surfaces-use-the-first-door',
      { path: `${S}/surfaces/` },
      { path: `${S}/resources/[^/]+/[^/]+/`, pathNot: '/index\\.ts$' },
      'Surfaces call verbs, never SQL.',
    ),
    never(
      'surfaces-enter-at-accept',
      { path: `${S}/surfaces/` },
      {
        path: `${S}/pipeline/`,
        pathNot: [`${S}/pipeline/(accept|types)\\.ts$`, `${S}/pipeline/capture/from-request\\.ts$`],
      },
      'An event enters the road only at its start.',
    ),
    never(
      'surfaces-are-strangers',
      { path: `${S}/surfaces/([^/]+)/` },
      { path: `${S}/surfaces/[^/]+/`, pathNot: `${S}/surfaces/$1/` },
      'Protocols do not borrow from each other.',
    ),
    never(
      'shared-surface-files-know-no-surface',
      { path: `${S}/surfaces/[^/]+\\.ts$`, pathNot: [`${S}/surfaces/(index|routed)\\.ts$`, TESTS] },
      { path: `${S}/surfaces/[^/]+/` },
      'Only index.ts and routed.ts mount surfaces; their shared code depends on none of them.',
    ),
    never(
      'stages-are-strangers',
      { path: `${S}/pipeline/(capture|verify|route|store|deliver)/` },
      { path: `${S}/pipeline/(capture|verify|route|store|deliver)/`, pathNot: `${S}/pipeline/$1/` },
      'Only accept.ts knows the order.',
    ),
    never(
      'road-does-not-look-up',
      { path: `${S}/pipeline/` },
      { path: `${S}/(workers|surfaces|app|main|config|boot|storage|commands)` },
      'The road does not depend on its drivers.',
    ),
    never(
      'workers-enter-at-accept',
      { path: `${S}/workers/` },
      { path: [`${S}/(surfaces|app|main|config)`, `${S}/pipeline/(verify|route|store|deliver)/`] },
      'A worker is a driver like any other.',
    ),
    never(
      'driver-only-in-db',
      {
        path: '^packages/server/',
        pathNot: [
          `${S}/platform/driver\\.ts$`,
          `${S}/platform/foreign-databases/`,
          `${S}/platform/links/postgres\\.ts$`,
          '^packages/server/chaos/brokers/postgres\\.ts$',
          '^packages/server/test/stage/mariadb\\.ts$',
          '^packages/server/bench/rivals/',
        ],
      },
      { path: '^(node_modules/)?(pg|mysql2|postgres|better-sqlite3)(/|$)' },
      'One file knows the driver of the server, and one folder those of other databases.',
    ),
    never(
      'delivery-core-is-pure',
      { path: `${S}/pipeline/deliver/(${CORE})\\.ts$` },
      {
        path: '.',
        pathNot: [`${S}/pipeline/deliver/(${CORE})\\.ts$`, `${S}/domain/`, '^packages/contract/'],
      },
      'The delivery machine has no clock and does no I/O; the simulator runs it unchanged.',
    ),
    never(
      'no-sockets-above-the-platform',
      { path: `${S}/(domain|resources|pipeline|workers)/`, pathNot: TESTS },
      {
        path: '^(node:)?(https?|http2|net|tls|dns|dgram)(/promises)?$',
        dependencyTypesNot: ['type-only', 'type-import'],
      },
      'Every outgoing request passes the guarded door in the platform.',
    ),
    never(
      'queries-only-in-rooms',
      { path: '.' },
      {
        path: `^packages/server/src/.*queries(\\.ts$|/)`,
        pathNot: [
          `${S}/resources/[^/]+/[^/]+/`,
          `${S}/pipeline/deliver/(lanes|attempts)/`,
          `${S}/pipeline/workflow/(instances|waits)/`,
        ],
      },
      'SQL belongs to the room that owns the table, or to the engine of deliveries or of workflows.',
    ),
    never(
      'no-proofs-in-src',
      { path: `${S}/`, pathNot: TESTS },
      { path: '^packages/server/(sim|chaos|bench)/' },
      'Shipping code does not depend on its proofs.',
    ),
    never(
      'fetch-library-only-in-outbound',
      { path: '^packages/server/', pathNot: [`${S}/platform/outbound/`, '^packages/server/bench/rivals/'] },
      { path: '^(node_modules/)?undici(/|$)' },
      'Every outgoing request passes the address guard.',
    ),
    never(
      'payments-library-only-in-its-adapter',
      { path: '/src/', pathNot: [TESTS, `${S}/resources/workspace/billing/stripe\\.ts$`] },
      { path: '^(node_modules/)?stripe(/|$)' },
      'The payment provider is behind a port, and its library is loaded only where it is configured.',
    ),
    never(
      'tests-beside-their-source-need-no-server',
      { path: `/src/.*${TESTS}` },
      {
        path: ['^packages/server/test/stage/harness\\.ts$', '^packages/server/test/stage/embedded-folders\\.ts$'],
        reachable: true,
      },
      '`npm run test:unit` runs them without a database. What needs one is in the test folder.',
    ),
    never(
      'no-test-code-in-src',
      { path: '/src/', pathNot: TESTS },
      { path: [TESTS, '^packages/server/test/'] },
      'Shipping code does not import tests.',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^packages/(console/(dist|\\.dist-)|server/dist)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types'],
      extensions: ['.ts', '.tsx', '.js'],
    },
  },
}
