const { default: TestRunner } = require('jest-runner')

/** Jest's own runner, in one process and one file after the other. */
module.exports = class SerialRunner extends TestRunner {
  isSerial = true
}
