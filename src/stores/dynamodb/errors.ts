import { asStoreError, messageOf, StoreError } from '../store-error.js'

const nameOf = (error: unknown): string => String(Object(error).name)

/** Errors by which the service says that it did nothing, and that a retry may succeed. */
const THROTTLED = [
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'RequestThrottledException',
]

/** The operator's fix for an error, by its name and text. */
const FIXES: readonly (readonly [RegExp, string])[] = [
  [
    /^ResourceNotFoundException/,
    'Await prepare(), create the table from dynamodbSchema(), or correct the option table or the region.',
  ],
  [
    /^(AccessDenied|UnrecognizedClient|InvalidSignature|ExpiredToken|MissingAuthenticationToken)/,
    'Allow dynamodb:GetItem, PutItem, UpdateItem and DeleteItem on the table.',
  ],
  [/^CredentialsProviderError/, 'Give the process credentials, such as the role of its function.'],
  [/^ProvisionedThroughputExceeded/, 'Raise the capacity of the table, or use BillingMode PAY_PER_REQUEST.'],
  [/ECONNREFUSED|ENOTFOUND|EAI_AGAIN/, 'Check the region or the endpoint of the client, and the network.'],
  [/Item size .* exceeded|item size to update/i, 'An item has at most 400 KB.'],
]

/** Failures before a request was sent. */
const UNSENT = /^CredentialsProviderError|ECONNREFUSED|ENOTFOUND|EAI_AGAIN/

/** Returns whether the condition of a request failed, so that nothing was written. */
export function isConditionFailed(error: unknown): boolean {
  return nameOf(error) === 'ConditionalCheckFailedException'
}

/** Returns whether the service did nothing because it throttles requests. */
export function isThrottled(error: unknown): boolean {
  return THROTTLED.includes(nameOf(error instanceof StoreError ? error.cause : error))
}

/**
 * Returns the `StoreError` for an error of the SDK. If the service blames the client, nothing was written.
 */
export function dynamodbError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const text = `${nameOf(error)} ${String(Object(error).code ?? '')} ${messageOf(error)}`
  const hint = FIXES.find(([pattern]) => pattern.test(text))?.[1]
  const unsent = UNSENT.test(text) || isThrottled(error)
  const replied = Object(error).$fault === 'client' || error instanceof TypeError
  const { message } = asStoreError('dynamodb', error, { hint })
  return new StoreError('dynamodb', message.slice('dynamodb: '.length), { cause: error, replied, unsent })
}
