/** @jest-config-loader esbuild-register */
const { configFor } = require('./jest.config.ts') as typeof import('./jest.config.js')

/** The tests of `npm run test:long`. */
export default configFor('long')
