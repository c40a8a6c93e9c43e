/** A read-only command that runs until the test writes the file `go` into the project. */
export const WAIT_FOR_GO = "until [ -e go ]; do sleep 0.05; done";
