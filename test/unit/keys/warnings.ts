export { listenForWarnings } from '../../support/warnings.js'
