import { MORE_PLACES } from '../stage/places.ts'
import { aScene } from '../stage/scene.ts'
import { atEachWidth, testWalk } from '../stage/screens.ts'

testWalk({ places: MORE_PLACES, scene: aScene, look: atEachWidth })
