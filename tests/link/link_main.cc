// Nothing but a program to link with.
int main() { return 0; }
