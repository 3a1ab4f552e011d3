const cluster = require('node:cluster')
const { default: runCircus } = require('jest-circus/runner')
const { disableStorages } = require('../async-storages.cjs')
require('../kept-scripts.cjs')

/**
 * Jest's own test runner on kept scripts, except that a test which lacks a program is left out, where jest
 * does not run in CI. `reporter.cjs` lists these tests at the end.
 */
module.exports = function runWithoutMissing(globalConfig, ...others) {
  // The module outlives a test file: cluster stores of earlier files would answer the workers of this one.
  cluster.removeAllListeners('message')
  disableStorages()
  const running = runCircus(globalConfig, ...others) // not awaited, or each stack trace would name this file
  return globalConfig.ci ? running : running.then(withoutMissing)
}

/** Returns a file's result in which each test that failed with `NotInstalled` is skipped, not failed. */
function withoutMissing(result) {
  const leftOut = result.testResults.flatMap((test) =>
    hintsOf(test)
      .slice(0, 1)
      .map((hint) => ({ test, hint })),
  )
  if (leftOut.length === 0) return result
  for (const { test } of leftOut)
    Object.assign(test, { status: 'pending', failureMessages: [], failureDetails: [] })
  const failing = result.numFailingTests - leftOut.length
  return {
    ...result,
    numFailingTests: failing,
    numPendingTests: result.numPendingTests + leftOut.length,
    failureMessage: failing > 0 || result.testExecError ? result.failureMessage : null,
    skipped: leftOut.length === result.testResults.length,
    leftOut: leftOut.map(({ test, hint }) => ({ title: test.fullName, hint })),
  }
}

/** Returns how to get what a test lacks: of each error, or of what caused it. */
function hintsOf({ status, failureDetails }) {
  return status === 'failed' ? failureDetails.flatMap(hintsOfError) : []
}

function hintsOfError(error) {
  if (error === undefined || error === null) return []
  return error.name === 'NotInstalled' ? [error.hint] : hintsOfError(error.cause)
}
