/** Loaded before the program, so that a test can trigger a bug: SIGUSR1 throws, SIGUSR2 rejects. */
process.on("SIGUSR1", () => {
  setTimeout(() => {
    throw new Error("thrown by the test");
  });
});
process.on("SIGUSR2", () => void Promise.reject(new Error("rejected by the test")));
