import { RARE_AUTOMATION } from '../stage/rare-automation.ts'
import { aRareScene } from '../stage/rare-scene.ts'
import { inLight, testWalk } from '../stage/screens.ts'

testWalk({ places: RARE_AUTOMATION, scene: aRareScene, look: inLight })
