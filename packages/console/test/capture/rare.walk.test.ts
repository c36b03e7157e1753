import { RARE_EVENTS, RARE_SETUP } from '../stage/rare-capture.ts'
import { aRareScene } from '../stage/rare-scene.ts'
import { inLight, testWalk } from '../stage/screens.ts'

testWalk({ places: [...RARE_EVENTS, ...RARE_SETUP], scene: aRareScene, look: inLight })
