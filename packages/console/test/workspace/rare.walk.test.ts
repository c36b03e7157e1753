import { RARE_ROLES, RARE_SETTINGS } from '../stage/rare-settings.ts'
import { aRareScene } from '../stage/rare-scene.ts'
import { inLight, testWalk } from '../stage/screens.ts'

testWalk({ places: [...RARE_ROLES, ...RARE_SETTINGS], scene: aRareScene, look: inLight })
