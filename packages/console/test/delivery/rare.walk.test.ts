import { RARE_DELIVERY } from '../stage/rare-delivery.ts'
import { aRareScene } from '../stage/rare-scene.ts'
import { inLight, testWalk } from '../stage/screens.ts'

testWalk({ places: RARE_DELIVERY, scene: aRareScene, look: inLight })
