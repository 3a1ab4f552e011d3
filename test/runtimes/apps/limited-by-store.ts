import { store } from 'store-of-the-runtime'
import { limitedPaths } from './limited-paths.js'

export default limitedPaths(store).app
