import { dynamodbStore } from 'headgate/dynamodb'
import { openClient } from '../../integration/dynamodb/open.js'

const { SDK_FOLDER = '', DYNAMODB_PORT = '' } = process.env

export default dynamodbStore(openClient(SDK_FOLDER, DYNAMODB_PORT), { table: 'headgate' })
