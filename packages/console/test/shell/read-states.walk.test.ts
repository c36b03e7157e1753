import { aDestination, anIngestKey, aRule, post } from '../../../server/test/stage/fixtures.ts'
import { inEighth } from '../../../server/test/stage/eighths.ts'
import { testStates } from '../stage/list-states.ts'
import { RESOURCE_SCREENS } from '../stage/resource-screens.ts'
import { OPERATOR_AREAS, SETTINGS_SCREENS } from '../stage/settings-screens.ts'
import { onSettings, type Settings } from '../stage/settings.ts'

let made: Settings

onSettings(async (settings) => {
  made = settings
  const { world } = made.stage
  await aDestination(world, { url: 'https://example.com/' })
  await aRule(world)
  await anIngestKey(world)
  await post(world.endpoint, '{"total":42}')
})

/** One screen of each layout. The parts that load and refuse are the same on every screen. */
const LOOKED_AT = new Set([
  'Rules',
  'Events',
  'Deliveries',
  'Overview',
  'Network access',
  'Import and export',
  'Operators',
  'Operators, health',
])

testStates(
  () => made.stage,
  inEighth([...RESOURCE_SCREENS, ...SETTINGS_SCREENS, ...OPERATOR_AREAS].filter(({ title }) => LOOKED_AT.has(title))),
  (seen, where) => seen.accessible(where),
)
