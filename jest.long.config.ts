/** @jest-config-loader esbuild-register */
import { configFor } from './jest.config.js'

/** The tests of `npm run test:long`. */
export default configFor('long')
