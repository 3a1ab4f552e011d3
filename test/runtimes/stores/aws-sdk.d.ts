/** The SDK, which tests fetch into a folder of its own. */
declare module '@aws-sdk/client-dynamodb' {
  export const DynamoDB: new (
    options: object,
  ) => Parameters<typeof import('headgate/dynamodb').dynamodbStore>[0]
}
